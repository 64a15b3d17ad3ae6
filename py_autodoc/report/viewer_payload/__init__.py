"""What the viewer gets: columns of nodes, tensors, boxes and costs."""
