class Faults:
    pass
