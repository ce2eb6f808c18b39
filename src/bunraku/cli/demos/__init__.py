"""The demos: one runner, and a module for what each kind of them adds. `assets.examples` is their table."""
