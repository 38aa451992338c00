"""What programs are written with besides ops: modules, extension types, device scopes, switches, questions."""
