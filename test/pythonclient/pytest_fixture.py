"""Tests the pytest fixture of docs/recipes.md. Its name hides it from unittest."""

from kubernetes import client, config


def test_config_map(kubeconfig):
    core = client.CoreV1Api(config.new_client_from_config(kubeconfig))
    core.create_namespaced_config_map("default", {"metadata": {"name": "a"}, "data": {"color": "blue"}})
    assert core.read_namespaced_config_map("a", "default").data == {"color": "blue"}
