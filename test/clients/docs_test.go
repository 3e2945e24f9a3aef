package clients

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

type unrun struct {
	commands *regexp.Regexp
	reason   string
}

var notRun = []unrun{
	{regexp.MustCompile(`^make `), "builds or tests the tree, or serves until it is stopped"},
	{regexp.MustCompile(`^(cd test.* && )?(TROUPE_SEED=17 )?go (test|run) `), "is a test or a measurement"},
	{regexp.MustCompile(`^TROUPE_APISERVER_FLAGS=.* go test `), "runs the reader's tests"},
	{regexp.MustCompile(`^go get `), "downloads a release"},
	{regexp.MustCompile(`^(\.ci/suite command-line|test/tools/envtest/cluster-api\.sh)`), "runs suites of other projects for minutes"},
	{regexp.MustCompile(`^(bin/)?troupe cluster `), "simulates 1,000 nodes until it is stopped; TestClusterCommand of test/cluster runs a small one"},
	{regexp.MustCompile(`--etcd-servers|^troupe serve --data-dir (node1|troupe-data-2)$`), "needs an etcd; .ci/suite etcd tests these"},
	{regexp.MustCompile(`(?s)^troupe serve .*--kubelet-client-certificate=`), "needs the certificates of kubelets"},
	{regexp.MustCompile(`^troupe restore .* --to `), "needs an archive with this point; TestPointInTime of test/storage has one"},
	{regexp.MustCompile(`^source <\(troupe completion bash\)`), "needs a terminal; .ci/suite shells tests it"},
	{regexp.MustCompile(`^troupe completion fish \| source`), "needs fish; .ci/suite shells tests it"},
	{regexp.MustCompile(`^(apt|install|systemctl) `), "needs root and systemd"},
	{regexp.MustCompile(`^troupe doctor --data-dir /var/lib/troupe`), "needs the service of systemd"},
	{regexp.MustCompile(`(?s)^troupe serve .*--bind-address 172\.30\.0\.1|^(kubeadm|PKI=|kube-controller-manager|kube-scheduler) ?`), "needs nodes; make node-test does the same"},
	{regexp.MustCompile(`^podman `), "needs podman"},
	{regexp.MustCompile(`^kubectl (apply -k|-n troupe) `), "needs a cluster that runs Pods; TestObjects checks the objects"},
}

// docs lists documents that need a special setup. By default, a document gets a server with
// Kubernetes names and the data directory troupe-data.
var docs = map[string]struct {
	setup  string // runs before the document's commands
	config func(t *testing.T, c *daemon.Config, dir, text string)
}{
	"docs/client.md": {setup: `troupe create configmap settings --from-literal=color=blue
troupe delete configmap settings
mkdir manifests
echo 'apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80, targetport: 8080}]}' >manifests/app.yaml`},
	"docs/cluster.md": {setup: `kubectl create -f - <<< '{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-7"}}'`},
	"docs/encryption.md": {
		setup: "troupe create secret generic a --from-literal=a=b",
		config: func(t *testing.T, c *daemon.Config, dir, text string) {
			_, config, _ := strings.Cut(text, "```yaml\n")
			config, _, _ = strings.Cut(config, "```")
			c.Naming, c.Encryption.ConfigFile = "platform", filepath.Join(dir, "encryption.yaml")
			client.WriteFile(t, c.Encryption.ConfigFile, config)
		},
	},
	"docs/recipes.md": {setup: `mkdir policies
cat >policies/web.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 9
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ["*"], resources: [deployments]}]
  validations: [{expression: object.spec.replicas <= 5, message: at most 5 replicas}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas}
spec: {policyName: replicas, validationActions: [Deny]}
END`},
	"docs/network.md": {setup: "kubectl create service clusterip web --tcp=80"},
}

// withoutServer matches commands that need the data directory for themselves. The server is stopped
// while they run.
var withoutServer = regexp.MustCompile(`^troupe (backup|migrate) troupe-data `)

type docBlock struct {
	kind string // the language after the fence, or ""
	at   string // file and line
	text string
}

// docBlocks returns a document's code blocks without their indentation.
func docBlocks(file, text string) (blocks []docBlock) {
	var fence *docBlock
	margin := ""
	for i, line := range strings.Split(text, "\n") {
		content := strings.TrimLeft(line, " ")
		switch kind, isFence := strings.CutPrefix(content, "```"); {
		case isFence && fence == nil:
			blocks = append(blocks, docBlock{kind: kind, at: fmt.Sprintf("%s:%d", file, i+2)})
			fence, margin = &blocks[len(blocks)-1], strings.TrimSuffix(line, content)
		case isFence:
			fence = nil
		case fence != nil:
			fence.text += strings.TrimPrefix(line, margin) + "\n"
		case strings.HasPrefix(line, "    "):
			blocks = append(blocks, docBlock{at: fmt.Sprintf("%s:%d", file, i+1), text: content + "\n"})
		}
	}
	return blocks
}

// commandStart matches blocks that start with a command. They must be marked sh or console.
var commandStart = regexp.MustCompile(`^(\$ |(bin/)?troupe [a-z]|kubectl |make [a-z]|go (run|test|tool|get) |cd |export |openssl |\.ci/)`)

// shownFile matches blocks that show a whole file, which starts with its own name.
var shownFile = regexp.MustCompile(`^(?:#|//) (test/\S+)\n`)

type docStep struct {
	command string
	console bool
	output  string // expected in a console block
}

// steps splits a block into commands and, for console, their expected output. It fails the test if
// a block with commands is not marked sh or console.
func (b docBlock) steps(t *testing.T) (steps []docStep) {
	t.Helper()
	if b.kind != "sh" && b.kind != "console" {
		if commandStart.MatchString(b.text) {
			t.Errorf("%s: mark the block as sh or console: %s", b.at, b.text)
		}
		return nil
	}
	lines := strings.SplitAfter(strings.TrimSuffix(b.text, "\n"), "\n")
	for i := 0; i < len(lines); {
		command := lines[i]
		i++
		if b.kind == "console" {
			if !strings.HasPrefix(command, "$ ") {
				t.Fatalf("%s: the block does not begin with a command", b.at)
			}
			command = command[len("$ "):]
		}
		for ; i < len(lines) && isIncomplete(command); i++ {
			command += lines[i]
		}
		s := docStep{command: strings.TrimSpace(command), console: b.kind == "console"}
		for ; s.console && i < len(lines) && !strings.HasPrefix(lines[i], "$ "); i++ {
			s.output += lines[i]
		}
		if s.command != "" {
			steps = append(steps, s)
		}
	}
	return steps
}

func isIncomplete(command string) bool {
	_, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	return strings.HasSuffix(command, "\\\n") || syntax.IsIncomplete(err)
}

// TestDocs runs the commands in the sh and console blocks of all documents (see doc.go).
func TestDocs(t *testing.T) {
	const root = "../.."
	files := strings.Fields(string(must.Get(exec.Command("git", "-C", root, "ls-files", "*.md").Output())(t)))
	if len(files) < 20 {
		t.Fatalf("found only %d documents", len(files))
	}
	unused := map[*regexp.Regexp]bool{}
	for _, n := range notRun {
		unused[n.commands] = true
	}
	for _, file := range files {
		text := string(client.ReadFile(t, filepath.Join(root, file)))
		var blocks [][]docStep // without the commands in notRun
		for _, b := range docBlocks(file, text) {
			if m := shownFile.FindStringSubmatch(b.text); m != nil && b.text != string(client.ReadFile(t, filepath.Join(root, m[1]))) {
				t.Errorf("%s: the block differs from %s", b.at, m[1])
			}
			steps := slices.DeleteFunc(b.steps(t), func(s docStep) bool {
				i := slices.IndexFunc(notRun, func(n unrun) bool { return n.commands.MatchString(s.command) })
				if i < 0 {
					return false
				}
				delete(unused, notRun[i].commands)
				checkNotRun(t, root, s.command)
				return true
			})
			if len(steps) > 0 {
				blocks = append(blocks, steps)
			}
		}
		if len(blocks) > 0 {
			t.Run(file, func(t *testing.T) {
				if strings.Contains(text, "\n$ openssl ") {
					client.NeedTool(t, "openssl")
				}
				t.Parallel()
				newDocSession(t, file, text).play(blocks)
			})
		}
	}
	for commands := range unused {
		t.Errorf("no document has a command that matches %s", commands)
	}
}

var (
	makeTarget = regexp.MustCompile(`^make ([a-z]+)`)
	goTest     = regexp.MustCompile(`\bgo test .*-run '?\^?(Test\w+)`)
	goRun      = regexp.MustCompile(`\bgo run (\./\w\S*)`)
)

// checkNotRun checks a command that the test does not run. Its make target, test or program must
// exist.
func checkNotRun(t *testing.T, root, command string) {
	t.Helper()
	dir := root
	if rest, ok := strings.CutPrefix(command, "cd "); ok {
		in, _, _ := strings.Cut(rest, " ")
		dir = filepath.Join(root, in)
	}
	if m := makeTarget.FindStringSubmatch(command); m != nil && !strings.Contains(string(client.ReadFile(t, root+"/Makefile")), "\n"+m[1]+":") {
		t.Errorf("%s: no such target", command)
	}
	if m := goTest.FindStringSubmatch(command); m != nil {
		found := false
		for _, file := range must.Get(filepath.Glob(filepath.Join(dir, regexp.MustCompile(`\./\w\S*`).FindString(command), "*_test.go")))(t) {
			found = found || strings.Contains(string(client.ReadFile(t, file)), "func "+m[1])
		}
		if !found {
			t.Errorf("%s: no such test", command)
		}
	}
	if m := goRun.FindStringSubmatch(command); m != nil {
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// A docSession is a shell in a temporary directory, with an in-process server.
type docSession struct {
	t       *testing.T
	dir     string
	env     []string
	session *client.ShellSession
	config  daemon.Config
	server  *daemon.Daemon // nil while stopped
}

func newDocSession(t *testing.T, file, text string) *docSession {
	t.Helper()
	s := &docSession{t: t, dir: t.TempDir(), config: daemon.Default()}
	s.config.DataDir, s.config.Naming, s.config.Serving.SecurePort = filepath.Join(s.dir, "troupe-data"), "kubernetes", 0
	if docs[file].config != nil {
		docs[file].config(t, &s.config, s.dir, text)
	}
	s.start()
	t.Cleanup(s.stop)
	bin := filepath.Join(s.dir, ".bin")
	must.Succeed(t, os.Mkdir(bin, 0o755))
	must.Succeed(t, os.Symlink(client.TroupeBinary(t), filepath.Join(bin, "troupe")))
	must.Succeed(t, os.Symlink(client.KubectlBinary(t), filepath.Join(bin, "kubectl")))
	s.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "TMPDIR=" + s.dir, "LC_ALL=C", "TZ=UTC"}
	if !strings.Contains(text, "\n$ export KUBECONFIG=") {
		s.env = append(s.env, "KUBECONFIG="+s.server.Kubeconfig())
	}
	shell := &client.Shell{Dir: s.dir, Env: s.env, Programs: map[string]*client.Workers{
		"kubectl": client.SharedWorkers(client.KubectlBinary(t)),
		"troupe":  client.SharedWorkers(client.TroupeWorkerBinary(t)),
	}}
	s.session = must.Get(shell.Session())(t)
	if setup := docs[file].setup; setup != "" {
		s.run(docStep{command: setup})
	}
	return s
}

func (s *docSession) start() {
	s.server = must.Get(daemon.New(s.config, s.t.Output()))(s.t)
	must.Succeed(s.t, s.server.Start())
}

func (s *docSession) stop() {
	if s.server != nil {
		must.Succeed(s.t, s.server.Stop(context.Background()))
		s.server = nil
	}
}

// play runs a document's blocks. Blocks with background commands run in Bash, because the session's
// shell does not support them.
func (s *docSession) play(blocks [][]docStep) {
	for _, steps := range blocks {
		if slices.ContainsFunc(steps, func(s docStep) bool { return strings.Contains(s.command, " & ") }) {
			script := "set -e\n"
			for _, step := range steps {
				script += step.command + "\n"
			}
			bash := exec.Command("bash", "-c", script)
			bash.Dir, bash.Env = s.dir, s.env
			if out, err := bash.CombinedOutput(); err != nil {
				s.t.Errorf("%s: %v\n%s", script, err, out)
			}
			continue
		}
		for _, step := range steps {
			s.run(step)
		}
	}
}

func (s *docSession) run(step docStep) {
	s.t.Helper()
	if withoutServer.MatchString(step.command) {
		s.stop()
		defer s.start()
	}
	var output string
	var code int
	if strings.HasPrefix(step.command, "troupe serve") {
		output = s.serve(step.command)
	} else {
		var err error
		if output, code, err = s.session.Run(s.t.Context(), step.command); err != nil {
			s.t.Fatalf("%s: %v", step.command, err)
		}
	}
	switch {
	case step.console:
		if got, want := normalizeDoc(output), normalizeDoc(step.output); !matchesDoc(got, want) {
			s.t.Errorf("%s: got\n%s\nthe document has\n%s", step.command, got, want)
		}
	case code != 0:
		s.t.Errorf("%s: exit code %d\n%s", step.command, code, output)
	}
}

// serve starts a second server with command, waits until it is ready, and stops it. It returns the
// ready line.
func (s *docSession) serve(command string) string {
	s.t.Helper()
	if !strings.Contains(command, "--ephemeral") {
		command += " --data-dir " + filepath.Join(s.t.TempDir(), "data")
	}
	cmd := exec.Command("/bin/sh", "-c", "exec "+command+" --secure-port 0")
	cmd.Dir, cmd.Env = s.dir, s.env
	p := client.StartDaemon(s.t, cmd)
	p.Stop()
	return p.ReadyLine
}

// varyingDoc lists patterns for values that vary between runs. They are applied after normalize.
var varyingDoc = []struct{ pattern, with string }{
	{`\b10\.0\.0\.([2-9]|\d\d+)\b`, "CLUSTER-IP"},
	{`https://ADDR|https://127\.0\.0\.1:\d+`, "https://ADDR"},
	{`KUBECONFIG=\S+`, "KUBECONFIG=PATH"},
	{`\b\d+(\.\d+)? ?(ms|µs|s|B|KiB|MiB|GiB)\b`, "QUANTITY"},
	{`: \d+ values`, ": COUNT values"},
	{`(?m)^\d+   TIME`, "REVISION   TIME"},
	{`WARN   it is on tmpfs.*\n.*\n`, ""}, // the directory of tests
}

func normalizeDoc(output string) string {
	output = normalize(output)
	for _, v := range varyingDoc {
		output = regexp.MustCompile(v.pattern).ReplaceAllString(output, v.with)
	}
	return strings.TrimSpace(output)
}

// matchesDoc reports whether output matches the document. A line that consists of … matches any
// number of lines, and … within a line matches any text.
func matchesDoc(got, want string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^…(\n|$)`).ReplaceAllLiteralString(pattern, `(?:.*(?:\n|$))*?`)
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, "…", ".*") + "$").MatchString(got)
}
