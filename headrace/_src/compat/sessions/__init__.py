"""Running 1.x graphs: sessions, what they fetch, and hooks around their runs."""
