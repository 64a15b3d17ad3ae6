"""The viewer's data: columns of nodes, tensors, boxes and costs."""
