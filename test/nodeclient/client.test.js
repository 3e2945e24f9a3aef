const { after, before, test } = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const { start } = require('./server.js');

let k8s, server, config, core, apps;

before(async () => {
  k8s = await import('@kubernetes/client-node');
  server = await start('--controllers', 'apiserver,namespace-controller,garbage-collector-controller');
  config = new k8s.KubeConfig();
  config.loadFromFile(server.kubeconfig);
  core = config.makeApiClient(k8s.CoreV1Api);
  apps = config.makeApiClient(k8s.AppsV1Api);
});

after(async () => {
  assert.strictEqual(await server.stop(), 0, 'the exit status after SIGTERM');
  assert.ok(!fs.existsSync(server.kubeconfig), 'the kubeconfig is left');
});

const namespace = 'default';
const configMap = (name, data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });

// rejects expects an error response with the given status code and reason.
async function rejects(promise, code, reason) {
  await assert.rejects(promise, (e) => {
    assert.strictEqual(e.code, code, `${e}`);
    const status = typeof e.body === 'string' ? JSON.parse(e.body) : e.body;
    assert.strictEqual(status?.reason, reason, `${e.code} ${e}`);
    return true;
  });
}

test('create, read, replace, delete', async () => {
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('a', { k: '1' }) });
  assert.ok(made.metadata.uid);
  assert.ok(made.metadata.creationTimestamp instanceof Date);
  made.data.k = '2';
  await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made });
  assert.strictEqual((await core.readNamespacedConfigMap({ namespace, name: 'a' })).data.k, '2');
  await rejects(core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }), 409, 'Conflict');
  await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
  await rejects(core.readNamespacedConfigMap({ namespace, name: 'a' }), 404, 'NotFound');
});

test('errors name what is wrong', async () => {
  await core.createNamespacedConfigMap({ namespace, body: configMap('taken') });
  await rejects(core.createNamespacedConfigMap({ namespace, body: configMap('taken') }), 409, 'AlreadyExists');
  await rejects(core.createNamespacedConfigMap({ namespace, body: configMap('NO') }), 422, 'Invalid');
  await rejects(core.createNamespacedConfigMap({ namespace: 'nowhere', body: { metadata: { name: 'a' } } }), 404, 'NotFound');
  const nobody = new k8s.KubeConfig();
  nobody.loadFromOptions({
    clusters: config.clusters, users: [{ name: 'nobody', token: 'wrong' }],
    contexts: [{ name: 'c', cluster: config.clusters[0].name, user: 'nobody' }], currentContext: 'c',
  });
  await rejects(nobody.makeApiClient(k8s.CoreV1Api).listNamespace(), 401, undefined); // the client drops the body
});

test('patches of three kinds, of a deployment', async () => {
  const labels = { app: 'web' };
  const name = 'web';
  await apps.createNamespacedDeployment({ namespace, body: {
    metadata: { name }, spec: { replicas: 1, selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } } } });
  const patch = (body, type) => apps.patchNamespacedDeployment({ namespace, name, body }, k8s.setHeaderOptions('Content-Type', type));
  assert.strictEqual((await patch([{ op: 'replace', path: '/spec/replicas', value: 2 }], k8s.PatchStrategy.JsonPatch)).spec.replicas, 2);
  assert.strictEqual((await patch({ spec: { replicas: 3 } }, k8s.PatchStrategy.MergePatch)).spec.replicas, 3);
  const two = await patch({ spec: { template: { spec: { containers: [{ name: 'd', image: 'j' }] } } } }, k8s.PatchStrategy.StrategicMergePatch);
  assert.deepStrictEqual(two.spec.template.spec.containers.map((c) => c.name).sort(), ['c', 'd']);
  await rejects(patch([{ op: 'test', path: '/spec/replicas', value: 9 }], k8s.PatchStrategy.JsonPatch), 422, 'Invalid');
});

test('server-side apply, and its conflicts', async () => {
  const apply = (fieldManager, data, force) => core.patchNamespacedConfigMap(
    { namespace, name: 'applied', body: configMap('applied', data), fieldManager, force },
    k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply));
  await apply('one', { k: '1' });
  await rejects(apply('two', { k: '2' }), 409, 'Conflict');
  assert.strictEqual((await apply('two', { k: '2' }, true)).data.k, '2');
});

test('objects of any kind, by a definition', async () => {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  await objects.create({
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'backups.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names: { plural: 'backups', kind: 'Backup' }, versions: [{
      name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: {
        spec: { type: 'object', properties: { keep: { type: 'integer', minimum: 1 } } } } } } }] },
  });
  const backup = { apiVersion: 'example.com/v1', kind: 'Backup', metadata: { name: 'nightly', namespace }, spec: { keep: 0 } };
  await rejects(objects.create(backup), 422, 'Invalid');
  backup.spec.keep = 7;
  await objects.create(backup);
  assert.strictEqual((await objects.read(backup)).spec.keep, 7);
  assert.strictEqual((await objects.list('example.com/v1', 'Backup', namespace)).items.length, 1);
});

test('a watch tells every change in order', async () => {
  const first = await core.listNamespacedConfigMap({ namespace });
  const seen = [];
  let request;
  const enough = new Promise((resolve, reject) => {
    new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, { resourceVersion: first.metadata.resourceVersion, fieldSelector: 'metadata.name=watched' },
      (phase, object) => { seen.push(`${phase} ${object.data?.k}`); if (seen.length === 3) resolve(); },
      (error) => { if (seen.length < 3) reject(error ?? new Error(`it ended after ${seen}`)); }).then((r) => { request = r; }, reject);
  });
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('watched', { k: '1' }) });
  made.data.k = '2';
  await core.replaceNamespacedConfigMap({ namespace, name: 'watched', body: made });
  await core.deleteNamespacedConfigMap({ namespace, name: 'watched' });
  await enough;
  request.abort();
  assert.deepStrictEqual(seen, ['ADDED 1', 'MODIFIED 2', 'DELETED 2']);
});

test('an informer lists, and follows', async () => {
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'before', labels: { informed: 'yes' } } } });
  const selector = 'informed=yes';
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`,
    () => core.listNamespacedConfigMap({ namespace, labelSelector: selector }), selector);
  const names = [];
  const both = new Promise((resolve, reject) => {
    informer.on('add', (o) => { names.push(o.metadata.name); if (names.length === 2) resolve(); });
    informer.on('error', reject);
  });
  await informer.start();
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'later', labels: { informed: 'yes' } } } });
  await both;
  await informer.stop();
  assert.deepStrictEqual(names, ['before', 'later']);
});
