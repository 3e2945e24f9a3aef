package conversion

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

func TestClients(t *testing.T) {
	w := New(meta.Platform, nil)
	defer w.Close()
	w.Start(webhookclient.Dialer{})
	hook := func(n int) *schema.ConversionWebhook {
		return &schema.ConversionWebhook{ClientConfig: tree.Tree{"url": fmt.Sprintf("https://127.0.0.1:1/%d", n)}}
	}
	client := func(h *schema.ConversionWebhook) *client {
		c, err := w.client(h)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := hook(0)
	was := client(first)
	var all []*schema.ConversionWebhook
	for n := range 500 {
		all = append(all, hook(n))
		client(all[n])
	}
	if client(first) != was || client(all[0]) != was || was.uses != 2 || len(w.clients) != 500 {
		t.Errorf("%d clients, the first has %d uses", len(w.clients), was.uses)
	}
	all = nil
	for deadline := time.Now().Add(5 * time.Minute); ; runtime.Gosched() {
		runtime.GC()
		w.mu.Lock()
		clients, hooks, uses := len(w.clients), len(w.hooks), was.uses
		w.mu.Unlock()
		if clients == 1 && hooks == 1 && uses == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d clients of %d webhooks are left", clients, hooks)
		}
	}
	if client(first) != was {
		t.Error("the one that is left has another client")
	}
}
