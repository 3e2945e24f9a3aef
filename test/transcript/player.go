package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A player sends the requests of one file.
type player struct {
	t        *testing.T
	admin    *client.Client
	folder   string
	options  Options
	defaults block
	normalizer
	hasNamespace bool
	watches      map[string]*client.Watch
}

func newPlayer(t *testing.T, c *client.Client, file string, o Options) *player {
	p := &player{t: t, admin: c, folder: filepath.Dir(file), options: o, watches: map[string]*client.Watch{}}
	base := strings.TrimSuffix(filepath.Base(file), ".txt")
	p.set("ns", "ns-"+strings.Trim(regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(base), "-"), "-"))
	for name, value := range o.Variables {
		p.variables = append(p.variables, [2]string{name, value})
	}
	return p
}

func (p *player) setDefaults(b *block) {
	for _, let := range b.lets {
		p.variables = append([][2]string{{let[0], p.expand(let[1])}}, p.variables...)
	}
	p.defaults.header = append(p.defaults.header, b.header...)
	if b.show != nil {
		p.defaults.show = b.show
	}
}

func (p *player) expand(text string) string {
	for _, v := range p.variables {
		text = strings.ReplaceAll(text, "{"+v[0]+"}", v[1])
	}
	if p.options.Profile != "" {
		text = client.Named(p.options.Profile, text)
	}
	return text
}

func (p *player) expected(recorded string) string {
	if p.options.Profile != "" {
		recorded = client.Named(p.options.Profile, recorded)
	}
	return canonical(recorded)
}

func (p *player) matches(recorded, received string) bool {
	return p.expected(recorded) == canonical(received)
}

// settling is the time for which -update repeats an until request before it records the response.
const settling = 3 * time.Second

func (p *player) play(b *block) (answer string, err error) {
	p.setDefaults(&block{lets: b.lets})
	if err := p.makeNamespace(b); err != nil {
		return "", err
	}
	switch b.method {
	case "watch":
		return p.watch(b)
	case "events":
		return p.events(b)
	}
	body, err := p.body(b)
	if err != nil {
		return "", err
	}
	path := p.expand(b.path)
	if name := regexp.MustCompile(`\{\w+\}`).FindString(path); name != "" {
		return "", fmt.Errorf("%s has no value", name)
	}
	c, err := p.client(b, body)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(path, "http://") {
		c = client.Over("", &http.Transport{})
	}
	p.sent += path + "\n" + strings.Join(b.header, "\n") + "\n" + string(body) + "\n"
	var content any // nil, not an empty body
	if body != nil {
		content = body
	}
	var received client.Answer
	began := time.Now()
	client.Poll(func() bool {
		ctx, cancel := context.WithTimeout(p.t.Context(), client.Watchdog)
		defer cancel()
		received, err = c.Do(ctx, b.method, path, "", content)
		answer = p.describe(received, b.show, p.defaults.show)
		//lint:ignore walltime only -update measures time
		return err != nil || !b.until || p.matches(b.answer, answer) || *Update && time.Since(began) > settling
	})
	if err != nil {
		return "", err
	}
	for _, keep := range b.keeps {
		v, ok := p.find(received, keep[1])
		if !ok {
			return "", fmt.Errorf("no %s to keep: %v", keep[1], received)
		}
		p.keep(keep[0], v)
	}
	return answer, nil
}

// makeNamespace creates the file's namespace before the first exchange that uses it.
func (p *player) makeNamespace(b *block) error {
	if p.hasNamespace || !strings.Contains(p.expand(strings.Join(b.head, "\n")), p.namespace()) {
		return nil
	}
	p.hasNamespace = true
	answer, err := p.admin.Create(p.t.Context(), "/api/v1/namespaces", client.Object{"metadata": map[string]any{"name": p.namespace()}})
	if err == nil && answer.Code != http.StatusCreated {
		err = &answer
	}
	return err
}

func (p *player) body(b *block) ([]byte, error) {
	if b.body == "" {
		return nil, nil
	}
	if text, isLiteral := strings.CutPrefix(b.body, `@"`); isLiteral {
		text, err := strconv.Unquote(`"` + text)
		return []byte(p.expand(text)), err
	}
	if name, isFile := strings.CutPrefix(b.body, "@"); isFile {
		text, err := os.ReadFile(filepath.Join(p.folder, name))
		return []byte(p.expand(string(text))), err
	}
	return []byte(p.expand(b.body)), nil
}

// client returns a client with the credentials and headers of the exchange.
func (p *player) client(b *block, body []byte) (*client.Client, error) {
	headers := http.Header{}
	if body != nil {
		headers.Set("Content-Type", "application/yaml")
		if bytes.HasPrefix(body, []byte("{")) || bytes.HasPrefix(body, []byte("[")) {
			headers.Set("Content-Type", client.JSON)
		}
	}
	for _, lines := range [][]string{p.defaults.header, b.header} {
		given := http.Header{}
		for _, line := range lines {
			name, value, _ := strings.Cut(p.expand(line), ":")
			given.Add(name, strings.TrimSpace(value))
		}
		maps.Copy(headers, given)
	}
	maps.DeleteFunc(headers, func(_ string, values []string) bool { return values[0] == "" })
	if body == nil {
		headers.Del("Content-Type")
	} else if b.method == http.MethodPatch && !strings.Contains(strings.Join(append(p.defaults.header, b.header...), "\n"), "Content-Type:") {
		return nil, errors.New("PATCH needs a Content-Type")
	}
	user, c := p.expand(b.user), p.admin
	token, isKnown := p.options.Tokens[b.user]
	switch {
	case isKnown:
		headers.Set("Authorization", "Bearer "+token)
		c = c.WithoutCertificate(p.t)
	case user == "anonymous":
		c = c.WithoutCertificate(p.t)
	case user != "":
		headers.Set("Impersonate-User", user)
	}
	return c.With(headers), nil
}

// watch starts a watch, whose name identifies it in later events steps.
func (p *player) watch(b *block) (string, error) {
	path, name := b.path, ""
	if before, after, ok := strings.Cut(b.path, " "); ok {
		name, path = before, after
	}
	path, query, _ := strings.Cut(p.expand(path), "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", err
	}
	c, err := p.client(b, nil)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*client.Watchdog)
	w, err := c.Watch(ctx, path, values)
	p.t.Cleanup(cancel)
	var refusal *client.Answer
	switch {
	case errors.As(err, &refusal):
		return p.describe(*refusal, b.show, nil), nil
	case err != nil:
		return "", err
	}
	p.t.Cleanup(w.Close)
	p.watches[name] = w
	return mark + " 200", nil
}

// events formats the given number of events from a watch, or all events until it ends.
func (p *player) events(b *block) (string, error) {
	count, name, _ := strings.Cut(b.path, " ")
	w := p.watches[name]
	if w == nil {
		return "", errors.New("there is no such watch")
	}
	n, err := strconv.Atoi(count)
	if err != nil && count != "end" {
		return "", err
	}
	lines := []string{mark}
	for read := 0; count == "end" || read < n; {
		e, err := w.Next()
		if err == io.EOF && count == "end" {
			return strings.Join(append(lines, "end"), "\n"), nil
		}
		if err != nil {
			return "", fmt.Errorf("after\n%s\n%w", strings.Join(lines, "\n"), err)
		}
		if text := p.describeEvent(e, b.show); text != "" {
			lines = append(lines, text)
			read++
		}
	}
	return strings.Join(lines, "\n"), nil
}
