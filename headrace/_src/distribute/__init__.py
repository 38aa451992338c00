"""Running one program on several devices: strategies, and the one that is there when none was chosen."""
