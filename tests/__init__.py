import os

# Two processes test on two cores: threads of linear algebra would wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
