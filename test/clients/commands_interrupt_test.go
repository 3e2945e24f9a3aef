package clients

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestInterrupt checks that Ctrl-C ends a waiting command with exit code 130 and no further output.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "platform")
	p.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, `{"metadata":{"name":"held","finalizers":["example.com/held"]}}`)
	p.Send(201, "POST", "/apis/apps/v1/namespaces/default/deployments", client.JSON, commandDeployment)
	for command, says := range map[string]string{
		"get configmaps held --watch":                                "held",
		"get configmaps --watch-only --output-watch-events":          "",
		"delete configmap held":                                      "deleted",
		"wait deployment/web --for=condition=Available --timeout=1h": "",
	} {
		t.Run(command, func(t *testing.T) {
			p := &place{client.Session{Server: p.Server, Ctx: p.Ctx, T: t}, p.dir, p.env}
			before := watches(p)
			term := p.open(80, 24, p.command(strings.Fields(command)...))
			term.see(says)
			client.Eventually(t, func() error {
				if watches(p) > before {
					return nil
				}
				return errors.New("it watches nothing")
			})
			said := term.String()
			term.press(ctrlC)
			code := term.end()
			// The terminal may show the newline after the rest of the line.
			if more := strings.TrimPrefix(term.String(), said); code != 130 || strings.TrimSpace(more) != "^C" {
				t.Errorf("exit code %d, said %q after %q", code, more, said)
			}
			client.Eventually(t, func() error { // the next command's count starts here
				if watches(p) <= before {
					return nil
				}
				return errors.New("its watch goes on")
			})
		})
	}
}

func watches(p *place) int {
	p.T.Helper()
	text := string(p.Send(200, "GET", "/metrics", "", "").Body)
	m := regexp.MustCompile(`(?m)^apiserver_longrunning_requests\{verb="WATCH"\} (\d+)$`).FindStringSubmatch(text)
	if m == nil {
		p.T.Fatal("no metric of watches")
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		p.T.Fatal(err)
	}
	return n
}
