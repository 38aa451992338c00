"""Variables of 1.x: made, shared by name, divided into parts."""
