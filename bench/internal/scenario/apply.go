package scenario

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// applyObjects: every operation applies one object, of which one value changes. The object is as large as
// that of update, with which it is to be compared: what ownership of fields costs is the difference.
func applyObjects(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	return f.measureApply(ctx, s.load(), "apply", func(n int) (string, []byte) { return f.path(n), f.object(n) })
}

// applyPods: every operation applies to a Pod of about 2 KiB that has three managers. In the first row an
// annotation changes; in the second nothing does, but the text is never the same, so that no server can
// know it; in the third it is. Controllers mostly apply what is there already, so the second and third row
// are what they cost when nothing happens. A Pod is what is applied most, and has more lists that merge by
// keys than other kinds.
func applyPods(ctx context.Context, s *Session) ([]Result, error) {
	f, err := s.prepare(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer f.remove()
	f.otherCollections = append(f.otherCollections, f.pods())
	if err := f.populatePods(ctx); err != nil {
		return nil, err
	}
	load := s.load()
	changed, err := f.measureApply(ctx, load, "apply-pod", func(n int) (string, []byte) { return f.podPath(n), f.pod(n, ","+string(appendSent(nil))) })
	if err != nil {
		return nil, err
	}
	if err := f.applyAgain(); err != nil {
		return nil, err
	}
	load.Profile = "" // what a profile shows is the work of a change
	var sent atomic.Int64
	same, err := f.measureApply(ctx, load, "apply-pod, unchanged", func(n int) (string, []byte) {
		return f.podPath(n), append(f.pod(n, ""), whitespaceNumber(sent.Add(1))...)
	})
	if err != nil {
		return nil, err
	}
	again, err := f.measureApply(ctx, load, "apply-pod, repeated", func(n int) (string, []byte) { return f.podPath(n), f.pod(n, "") })
	return slices.Concat(changed, same, again), err
}

// whitespaceNumber is a number in spaces and line breaks. Between tokens of JSON it means nothing, yet
// makes every body another one.
func whitespaceNumber(n int64) []byte {
	digits := strconv.FormatInt(n, 2)
	return []byte(strings.NewReplacer("0", " ", "1", "\n").Replace(digits))
}

// applyAgain takes the changes back. Without it, the first operation on each Pod of the second row would be
// a change.
func (f *fixture) applyAgain() error {
	c := f.session.Target.Conn()
	defer c.Close()
	for n := range f.session.hotCount() {
		if err := f.applyOnce(c, f.podPath(n), "bench", f.pod(n, "")); err != nil {
			return err
		}
	}
	return nil
}

// measureApply applies what config says of object n, as one manager who takes what belongs to others.
// Without force the other managers' fields would be conflicts.
func (f *fixture) measureApply(ctx context.Context, load measure.Load, name string, config func(n int) (path string, body []byte)) ([]Result, error) {
	sample, err := load.Drive(ctx, f.session.Target, func(c *server.Conn, n int) (int, error) {
		path, body := config(n % f.session.hotCount())
		answer, err := c.Expect(http.StatusOK, http.MethodPatch, path+"?fieldManager=bench&force=true", server.TypeApplyPatch, body)
		return len(answer), err
	})
	if err != nil {
		return nil, err
	}
	_, body := config(0)
	return requestResult(name, sample, load, http.MethodPatch, server.TypeApplyPatch, body), nil
}

// Both statuses are good: the first apply of an object creates it.
func (f *fixture) applyOnce(c *server.Conn, path, manager string, body []byte) error {
	status, answer, err := c.Do(http.MethodPatch, path+"?fieldManager="+manager, server.TypeApplyPatch, body)
	if err == nil && status != http.StatusOK && status != http.StatusCreated {
		err = fmt.Errorf("PATCH %s: status %d: %s", path, status, server.Excerpt(answer))
	}
	return err
}

// populatePods makes the Pods, and gives each its second and third manager. The managers stand for the one
// who deploys, one who labels, and the node.
func (f *fixture) populatePods(ctx context.Context) error {
	c := f.session.Target.Conn()
	defer c.Close()
	for n := range f.session.hotCount() {
		head := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q`, name(n))
		for _, write := range []struct{ path, manager, body string }{
			{f.podPath(n), "bench", string(f.pod(n, ""))},
			{f.podPath(n), "labels", head + `,"labels":{"owner":"bench"},"annotations":{"example.com/note":"kept"}}}`},
			{f.podPath(n) + "/status", "kubelet", head + `},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"}]}}`},
		} {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.applyOnce(c, write.path, write.manager, []byte(write.body)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pods is the collection of the Pods that are applied.
func (f *fixture) pods() string { return f.namespacePath() + "/pods" }

// podPath is where the n-th Pod is. Pods have the names of the objects, in a collection of their own.
func (f *fixture) podPath(n int) string { return f.pods() + "/" + name(n) }

// pod is what the first manager says of the n-th Pod; sent, if any, is one more annotation, after a comma.
// The Pod ends at once when it is deleted, or clean-up would wait for a node that does not exist.
func (f *fixture) pod(n int, sent string) []byte {
	var containers []string
	for _, name := range []string{"one", "two"} {
		containers = append(containers, fmt.Sprintf(`{"name":%q,"image":"example.com/web:1","args":["--config","/etc/web/server.conf"],"ports":[{"containerPort":80}],`+
			`"env":[{"name":"MODE","value":"fast"},{"name":"LEVEL","value":"3"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}},`+
			`"readinessProbe":{"tcpSocket":{"port":80},"periodSeconds":5},"volumeMounts":[{"name":"work","mountPath":"/work"}]}`, name))
	}
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"labels":{"app":"web"},"annotations":{"example.com/bench":"on"%s}},`+
		`"spec":{"terminationGracePeriodSeconds":0,"containers":[%s],"volumes":[{"name":"work","emptyDir":{}}]}}`, name(n), sent, strings.Join(containers, ","))
}
