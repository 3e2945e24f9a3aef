// Starts `troupe serve --ephemeral` and waits until it is ready. TROUPE names another binary.
const { spawn } = require('node:child_process');
const readline = require('node:readline');

exports.start = async function start(...flags) {
  const child = spawn(process.env.TROUPE || 'troupe', ['serve', '--ephemeral', '--secure-port', '0', '--naming', 'kubernetes',
    ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const line = await Promise.race([
    new Promise((resolve) => readline.createInterface({ input: child.stdout }).once('line', resolve)),
    ended.then((code) => { throw new Error(`it ended with ${code} before it was ready`); }),
  ]);
  const ready = /^troupe ready: (\S+) .*KUBECONFIG=(.+) in \d+ ms$/.exec(line);
  if (!ready) throw new Error(`the ready line is ${line}`);
  return { url: ready[1], kubeconfig: ready[2], stop() { child.kill('SIGTERM'); return ended; } };
};
