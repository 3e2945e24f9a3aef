"""Tests the official Python client with troupe serve --ephemeral."""

import datetime
import json
import os
import tempfile
import threading
import unittest

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

from server import Server

NAMESPACE = "default"


def config_map(name, data=None, **metadata):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, **metadata), data=data)


class TestClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.api = config.new_client_from_config(cls.server.kubeconfig)
        cls.core, cls.apps = client.CoreV1Api(cls.api), client.AppsV1Api(cls.api)

    @classmethod
    def tearDownClass(cls):
        cls.api.close()
        status = cls.server.stop()
        assert status == 0, f"the exit status after SIGTERM is {status}"
        assert not os.path.exists(cls.server.kubeconfig), "the kubeconfig is left"

    def refused(self, code, reason, call, *args, **kwargs):
        """Expects an error response with the given status code and reason."""
        with self.assertRaises(ApiException) as caught:
            call(*args, **kwargs)
        self.assertEqual(caught.exception.status, code, caught.exception)
        self.assertEqual(json.loads(caught.exception.body)["reason"], reason)

    def test_create_read_replace_delete(self):
        made = self.core.create_namespaced_config_map(NAMESPACE, config_map("a", {"k": "1"}))
        self.assertTrue(made.metadata.uid)
        self.assertIsInstance(made.metadata.creation_timestamp, datetime.datetime)
        made.data["k"] = "2"
        self.core.replace_namespaced_config_map("a", NAMESPACE, made)
        self.assertEqual(self.core.read_namespaced_config_map("a", NAMESPACE).data, {"k": "2"})
        self.refused(409, "Conflict", self.core.replace_namespaced_config_map, "a", NAMESPACE, made)
        self.core.delete_namespaced_config_map("a", NAMESPACE)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "a", NAMESPACE)

    def test_errors_name_what_is_wrong(self):
        self.core.create_namespaced_config_map(NAMESPACE, config_map("taken"))
        self.refused(409, "AlreadyExists", self.core.create_namespaced_config_map, NAMESPACE, config_map("taken"))
        self.refused(422, "Invalid", self.core.create_namespaced_config_map, NAMESPACE, config_map("NO"))
        self.refused(404, "NotFound", self.core.create_namespaced_config_map, "nowhere", config_map("a"))
        nobody = client.Configuration()
        nobody.host, nobody.ssl_ca_cert = self.api.configuration.host, self.api.configuration.ssl_ca_cert
        nobody.api_key = {"authorization": "Bearer wrong"}
        with client.ApiClient(nobody) as api:
            self.refused(401, "Unauthorized", client.CoreV1Api(api).list_namespace)

    def test_patches_of_a_deployment(self):
        labels, name = {"app": "web"}, "web"
        self.apps.create_namespaced_deployment(NAMESPACE, client.V1Deployment(
            metadata=client.V1ObjectMeta(name=name),
            spec=client.V1DeploymentSpec(
                replicas=1, selector=client.V1LabelSelector(match_labels=labels),
                template=client.V1PodTemplateSpec(
                    metadata=client.V1ObjectMeta(labels=labels),
                    spec=client.V1PodSpec(containers=[client.V1Container(name="c", image="i:1")])))))

        def patch(body, call=self.apps.patch_namespaced_deployment):
            return call(name, NAMESPACE, body)

        self.assertEqual(patch({"spec": {"replicas": 2}}).spec.replicas, 2)  # strategic
        both = patch({"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "j"}]}}}})
        self.assertEqual(sorted(c.name for c in both.spec.template.spec.containers), ["c", "d"])
        self.assertEqual(patch([{"op": "replace", "path": "/spec/replicas", "value": 3}]).spec.replicas, 3)  # JSON patch
        self.assertEqual(patch({"spec": {"replicas": 4}}, self.apps.patch_namespaced_deployment_scale).spec.replicas, 4)
        self.refused(422, "Invalid", patch, [{"op": "test", "path": "/spec/replicas", "value": 9}])

    def test_server_side_apply(self):
        dynamic_client = dynamic.DynamicClient(self.api)
        maps = dynamic_client.resources.get(api_version="v1", kind="ConfigMap")

        def apply(manager, value, **more):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied", "namespace": NAMESPACE}, "data": {"k": value}}
            # A string, because this version of the client cannot encode objects for apply.
            return maps.server_side_apply(body=json.dumps(body), name="applied", namespace=NAMESPACE, field_manager=manager, **more)

        apply("one", "1")
        with self.assertRaises(dynamic.exceptions.ConflictError):
            apply("two", "2")
        self.assertEqual(apply("two", "2", force_conflicts=True).data.k, "2")

    def test_objects_of_a_definition(self):
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"keep": {"type": "integer", "minimum": 1}}}}}
        client.ApiextensionsV1Api(self.api).create_custom_resource_definition({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "backups.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "backups", "kind": "Backup"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}})
        objects = client.CustomObjectsApi(self.api)
        backup = {"apiVersion": "example.com/v1", "kind": "Backup", "metadata": {"name": "nightly"}, "spec": {"keep": 0}}
        where = ("example.com", "v1", NAMESPACE, "backups")
        self.refused(422, "Invalid", objects.create_namespaced_custom_object, *where, backup)
        backup["spec"]["keep"] = 7
        objects.create_namespaced_custom_object(*where, backup)
        self.assertEqual(objects.get_namespaced_custom_object(*where, "nightly")["spec"]["keep"], 7)
        self.assertEqual(len(objects.list_namespaced_custom_object(*where)["items"]), 1)

    def test_watch_tells_every_change_in_order(self):
        first = self.core.list_namespaced_config_map(NAMESPACE).metadata.resource_version

        def change():
            made = self.core.create_namespaced_config_map(NAMESPACE, config_map("watched", {"k": "1"}))
            made.data["k"] = "2"
            self.core.replace_namespaced_config_map("watched", NAMESPACE, made)
            self.core.delete_namespaced_config_map("watched", NAMESPACE)

        other = threading.Thread(target=change)
        other.start()
        seen, stream = [], watch.Watch()
        for event in stream.stream(self.core.list_namespaced_config_map, NAMESPACE, resource_version=first,
                                   field_selector="metadata.name=watched", timeout_seconds=30):
            seen.append((event["type"], event["object"].data["k"]))
            if len(seen) == 3:
                stream.stop()
        other.join()
        self.assertEqual(seen, [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")])

    def test_expired_watch(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as settings:
            settings.write("watch-history-time: 1ms\nwatch-history-bytes: 1")
            settings.flush()
            server = Server("--config", settings.name)
            self.addCleanup(server.stop)
        api = config.new_client_from_config(server.kubeconfig)
        self.addCleanup(api.close)
        core = client.CoreV1Api(api)
        first = core.create_namespaced_config_map(NAMESPACE, config_map("old")).metadata.resource_version
        for i in range(1000):
            core.patch_namespaced_config_map("old", NAMESPACE, {"data": {"n": str(i)}})
            try:
                core.list_namespaced_config_map(NAMESPACE, resource_version=first, resource_version_match="Exact")
            except ApiException as error:
                self.assertEqual(error.status, 410)
                break
        with self.assertRaises(ApiException) as caught:
            for _ in watch.Watch().stream(core.list_namespaced_config_map, NAMESPACE, resource_version=first):
                pass
        self.assertEqual(caught.exception.status, 410)
        self.assertIn("Expired: too old resource version: " + first, caught.exception.reason)

    def test_lists_in_chunks(self):
        for i in range(5):
            self.core.create_namespaced_config_map(NAMESPACE, config_map(f"chunk-{i}", labels={"chunk": "yes"}))
        names, token = [], None
        while token != "":
            page = self.core.list_namespaced_config_map(NAMESPACE, label_selector="chunk=yes", limit=2, _continue=token)
            self.assertLessEqual(len(page.items), 2)
            names += [o.metadata.name for o in page.items]
            token = page.metadata._continue or ""
        self.assertEqual(names, [f"chunk-{i}" for i in range(5)])


if __name__ == "__main__":
    unittest.main()
