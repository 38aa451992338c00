"""What programs are written with besides ops: modules, device scopes, switches, questions."""
