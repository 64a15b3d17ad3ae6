"""Handlers, one module a resource. They neither catch nor compute: they name permissions and pass on."""
