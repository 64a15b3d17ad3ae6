"""The boxes that the viewer draws: modules, repeats, recognised structures, stages."""
