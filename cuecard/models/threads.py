"""How many threads arithmetic may take in a process that answers callers: one."""

from threadpoolctl import threadpool_limits


def use_one_thread() -> None:
    """Products of a few thousand numbers are done in a tenth of a millisecond; a second thread only waits for a core.

    On a busy machine the 95th percentile of a judgement was 8 ms with two threads and 0.2 ms with one.
    """
    threadpool_limits(limits=1, user_api="blas")
