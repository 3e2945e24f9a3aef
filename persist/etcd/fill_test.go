package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// content returns a label, a secret and 251 items. Before item number at, it calls interrupt.
func content(at int, interrupt func() error) func() (Content, error) {
	c := Content{Revision: 1000, Labels: map[string]string{"l": "x"}, Secrets: map[string][]byte{"s": []byte("y")}}
	c.Items = func(yield func(string, []byte, int) error) error {
		for i := range 250 {
			if i == at {
				if err := interrupt(); err != nil {
					return err
				}
			}
			w := put(fmt.Sprintf("/c/n/%03d", i), strings.Repeat("x", i*100))
			if err := yield(w.Key, w.Value, w.RevisionOffset); err != nil {
				return err
			}
		}
		return yield("/c/n/raw", []byte("raw"), -1)
	}
	return func() (Content, error) { return c, nil }
}

var whole = content(-1, nil)

// openFilled reports whether the store opens. It must then be whole.
func openFilled(t *testing.T, o Options) (bool, error) {
	t.Helper()
	o.MustExist = true
	l, err := Open(t.Context(), o)
	if err != nil {
		return false, err
	}
	n := 0
	_, err = l.Export(t.Context(), func(persist.Item) error { n++; return nil })
	labels, labelsErr := l.Labels(t.Context())
	secret, secretErr := l.Secret(t.Context(), "s")
	if err := errors.Join(err, labelsErr, secretErr, l.Close()); err != nil || n != 251 || labels["l"] != "x" || string(secret) != "y" {
		t.Fatalf("%s: %d items, labels %v, secret %q, %v", o.Prefix, n, labels, secret, err)
	}
	return true, nil
}

// TestFill checks that a store created by Fill has the same content as a store written by Append. A
// store whose Fill was interrupted must not open, but Fill can be repeated.
func TestFill(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	refused := func(when string) {
		t.Helper()
		for _, mustExist := range []bool{false, true} {
			l, err := Open(t.Context(), Options{Endpoints: o.Endpoints, MustExist: mustExist})
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "run it again") {
				t.Errorf("%s: opened with the error %v", when, err)
			}
		}
	}
	err := Fill(t.Context(), o, func() (Content, error) {
		refused("before the first key")
		return Content{}, errors.New("unreadable")
	})
	same(t, "without content", fmt.Sprint(err), "unreadable")
	same(t, "interrupted", fmt.Sprint(Fill(t.Context(), o, content(200, func() error { return errors.New("interrupted") }))), "interrupted")
	refused("after an interruption")
	must.Succeed(t, Fill(t.Context(), o, whole))
	if err := Fill(t.Context(), o, whole); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("filled twice: %v", err)
	}
	a := open(t, o)
	if len(a.state) != 251 || string(a.state["/c/n/raw"].Value) != "raw" || a.upTo <= 1000 {
		t.Errorf("%d keys up to %d, and %s", len(a.state), a.upTo, a.state["/c/n/raw"].Value)
	}
	seen := map[persist.Revision]bool{}
	for key, c := range a.state {
		if c.Revision <= 1000 || seen[c.Revision] || key != "/c/n/raw" && !strings.HasPrefix(string(c.Value), fmt.Sprintf(`{"v":"%d"`, c.Revision)) {
			t.Errorf("%s has the revision %d: %.40s", key, c.Revision, c.Value)
		}
		seen[c.Revision] = true
	}
	label, err := a.EnsureLabel(t.Context(), "l", "other")
	secret, fault := a.Secret(t.Context(), "s")
	same(t, "label and secret", fmt.Sprintf("%s %v %s %v", label, err, secret, fault), "x <nil> y <nil>")
	same(t, "goes on", a.append(put("/c/n/000", "y", at("/c/n/000", a.revision("/c/n/000")))), "ok")
	b := open(t, Options{Endpoints: o.Endpoints, MustExist: true})
	same(t, "another one", b.text(), a.text())
	if _, err := Open(t.Context(), Options{Endpoints: o.Endpoints, Prefix: "/none", MustExist: true}); err == nil {
		t.Error("a store was made")
	}
}

// TestFillIsKilled cuts a Fill off from etcd at each of its requests, before or after etcd applies
// it. Open must then refuse the prefix, find no store, or find all of it. Another Fill must
// complete the store, or find it complete.
func TestFillIsKilled(t *testing.T) {
	t.Parallel()
	endpoints := etcdtest.Start(t, 1).URLs()
	refused := 0
	for at, done := 1, false; !done; at++ {
		for _, applied := range []bool{false, true} {
			o := Options{Endpoints: endpoints, Prefix: fmt.Sprintf("/%d-%v", at, applied)}.withDefaults()
			sent := 0
			cut := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				if sent++; sent > at || sent == at && !applied {
					return errors.New("killed")
				}
				err := invoke(ctx, method, req, reply, cc, opts...)
				if sent == at {
					err = errors.New("killed")
				}
				return err
			}
			client := must.Get(connect(o, grpc.WithChainUnaryInterceptor(cut)))(t)
			err := newFiller(o, client).run(t.Context(), whole)
			done = sent < at
			must.Succeed(t, client.Close())
			if (err == nil) != done {
				t.Fatalf("request %d: %v", at, err)
			}
			complete, err := openFilled(t, o)
			switch {
			case complete:
			case strings.Contains(err.Error(), "run it again"):
				refused++
			case !strings.Contains(err.Error(), "no store"):
				t.Errorf("request %d: opened with %v", at, err)
			}
			if err := Fill(t.Context(), o, whole); errors.Is(err, ErrNotEmpty) != complete || err != nil && !complete {
				t.Errorf("request %d: filled again: %v", at, err)
			}
			if again, err := openFilled(t, o); !again {
				t.Errorf("request %d: after another Fill: %v", at, err)
			}
		}
	}
	if refused < 6 {
		t.Errorf("only %d interrupted stores were refused", refused)
	}
}

// TestFillIsOvertaken starts a second Fill while another one writes. The first must not write or
// remove the second one's marker any more.
func TestFillIsOvertaken(t *testing.T) {
	t.Parallel()
	endpoints := etcdtest.Start(t, 1).URLs()
	for second, want := range map[int]string{150: "run it again", -1: ""} {
		o := Options{Endpoints: endpoints, Prefix: fmt.Sprint("/second", second)}
		var completed error
		err := Fill(t.Context(), o, content(120, func() error {
			completed = Fill(t.Context(), o, content(second, func() error { return errors.New("interrupted") }))
			return nil
		}))
		if err == nil || !strings.Contains(err.Error(), "another migration") || (completed == nil) != (want == "") {
			t.Errorf("the first Fill ends with %v, the second with %v", err, completed)
		}
		_, err = openFilled(t, o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("opened with %v, want %q", err, want)
		}
	}
}
