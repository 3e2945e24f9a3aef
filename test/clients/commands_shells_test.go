//go:build shells

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestShells checks that bash, zsh and fish complete commands, flags, resources and object names.
func TestShells(t *testing.T) {
	p := newPlace(t, "platform")
	p.Send(201, "POST", "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"warehouse"}}`)
	p.Send(201, "POST", "/api/v1/namespaces/warehouse/configmaps", client.JSON, `{"metadata":{"name":"settings-of-it"}}`)
	for shell, setup := range map[string]struct {
		args []string
		line string
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "source /usr/share/bash-completion/bash_completion; source <(troupe completion bash); echo ready-$((1+1))\r"},
		"zsh":  {[]string{"-f", "-i"}, "autoload -U compinit && compinit -u -D; source <(troupe completion zsh); echo ready-$((1+1))\r"},
		"fish": {[]string{"--no-config", "-i"}, "troupe completion fish | source; echo ready-(math 1+1)\r"},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Fatal(err)
			}
			p := &place{client.Session{Server: p.Server, Ctx: p.Ctx, T: t}, t.TempDir(), p.env}
			c := exec.CommandContext(p.Ctx, program, setup.args...)
			c.Dir, c.Env = p.dir, append(p.env, "PATH="+filepath.Dir(client.TroupeBinary(t))+":"+os.Getenv("PATH"), "HOME="+p.dir, "INPUTRC=/dev/null")
			term := p.open(200, 24, c)
			term.press(setup.line)
			term.see("ready-2")
			// The typed line does not contain the expected output, so only completion can produce
			// it.
			for _, try := range []struct{ typed, says string }{
				{"troupe get configm\t -n warehouse -o name\r", "configmap/settings-of-it"},
				{"troupe get -n warehouse configmaps sett\t -o custom-columns=X:.metadata.name,Y:.kind\r", "settings-of-it   ConfigMap"},
				{"troupe get configmaps -n wareh\t -o custom-columns=Z:.metadata.namespace,Y:.kind --no-headers\r", "warehouse   ConfigMap"},
				{"troupe get namespaces wareh\t --show-lab\t\r", "metadata.name=warehouse"},
				{"troupe describ\t namespace/wareh\t\r", "Kind:"},
			} {
				term.press(try.typed)
				term.see(try.says)
			}
			term.press("exit\r")
			if code := term.end(); code != 0 {
				t.Errorf("exit code %d\n%s", code, term)
			}
		})
	}
}
