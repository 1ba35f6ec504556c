"""Fixtures of the tests with several replicas. A file shares one cluster, whose replicas all work before each test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.conftest import pytest_runtest_makereport, pytest_runtest_protocol  # noqa: F401  hooks, for the reports
from tests.e2e.faults import clear_faults
from tests.harness.databases import new_database
from tests.replicas.cluster import Cluster, running_cluster


@pytest.fixture(scope="module")
def cluster_database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        yield url


@pytest.fixture
def own_database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replicas")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def lasting_cluster(cluster_database: str, folder: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(folder, cluster_database) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def cluster(lasting_cluster: Cluster) -> Cluster:
    await clear_faults(lasting_cluster.system)
    await lasting_cluster.restore()
    return lasting_cluster
