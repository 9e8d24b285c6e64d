"""The faults of tests/planted.py: name, file, text, other text, tests."""

FAULTS = [
    (
        "SPRT accepts H1 0.2 below its bound",
        "results/statistics/sprt.py",
        '"H1" if value >= upper',
        '"H1" if value >= upper - 0.2',
        "tests/results/test_sprt.py",
    ),
    (
        "Student's t stands for the normal distribution below 40 samples only",
        "results/statistics/elo.py",
        "FEW = 100",
        "FEW = 40",
        "tests/results/test_elo.py",
    ),
]
