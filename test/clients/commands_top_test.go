package clients

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestTop: everything fits into 80 columns and 24 rows, follows what the server does, and leaves the terminal as it was.
func TestTop(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "platform")
	for i := range 40 { // more collections than rows
		p.Send(201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", client.JSON, fmt.Sprintf(`{"metadata":{"name":"verylongnamesofresources%d.group-of-an-organization-with-a-long-name.example.com"},
		  "spec":{"group":"group-of-an-organization-with-a-long-name.example.com","scope":"Namespaced","names":{"plural":"verylongnamesofresources%[1]d","kind":"VeryLong%[1]d"},
		  "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, i))
	}
	answer, err := p.List(p.Ctx, "/api/v1/configmaps", nil)
	if err != nil {
		t.Fatal(err)
	}
	had := len(answer.Items)
	term := p.open(80, 24, p.command("top", "--kubeconfig", p.Kubeconfig(), "--interval", "100ms"))
	looks := func(check func(lines []string) error) {
		t.Helper()
		client.Eventually(t, func() error {
			text := term.screen.String()
			if err := check(strings.Split(text, "\n")); err != nil {
				return fmt.Errorf("%w:\n%s", err, text)
			}
			return nil
		})
	}
	has := func(words ...string) func([]string) error {
		return func(lines []string) error {
			for i, word := range words {
				if i >= len(lines) || !strings.HasPrefix(lines[i], word) {
					return fmt.Errorf("no line %d that begins with %q", i, word)
				}
			}
			return nil
		}
	}
	looks(has("troupe ", "objects   ", "requests  ", "  ", "watches   ", "commits   ", "memory    ", "process   "))
	for i := range 30 { // it follows
		p.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, fmt.Sprintf(`{"metadata":{"name":"n%d"}}`, i))
	}
	looks(func(lines []string) error {
		for _, line := range lines {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "configmaps" && fields[1] == fmt.Sprint(had+30) {
				return nil
			}
		}
		return errors.New("no more ConfigMaps")
	})
	if faults := term.screen.faults; len(faults) > 0 || !term.screen.other || !term.screen.hidden {
		t.Errorf("%q, second screen %v, cursor hidden %v\n%s", faults, term.screen.other, term.screen.hidden, term.screen)
	}
	term.resize(60, 12)
	looks(func(lines []string) error {
		if len(lines) > 12 {
			return errors.New("too many lines")
		}
		return has("troupe ", "objects   ")(lines)
	})
	term.press(ctrlC)
	if code := term.end(); code != 0 || term.screen.other || term.screen.hidden {
		t.Errorf("exit code %d, second screen %v, cursor hidden %v", code, term.screen.other, term.screen.hidden)
	}
}
