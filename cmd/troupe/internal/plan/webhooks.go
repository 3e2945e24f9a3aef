package plan

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// dialTimeout is the timeout for checking a webhook's address.
const dialTimeout = 2 * time.Second

// webhookFault returns why an admission webhook cannot be called from here, or nil. The daemon
// skips such webhooks, because they would make every request fail.
func (p *planner) webhookFault(clientConfig tree.Tree) error {
	if service := clientConfig.Object("service"); service != nil {
		name := service.String("name") + "." + service.String("namespace")
		for _, text := range slices.Backward(p.Config.Admission.ServiceResolver) {
			if address, ok := strings.CutPrefix(text, name+"="); ok {
				return p.dial(address)
			}
		}
		return fmt.Errorf("the address of its Service is unknown: map it with --webhook-service-resolver %s=HOST:PORT", name)
	}
	u, err := url.Parse(clientConfig.String("url"))
	if err != nil || u.Hostname() == "" {
		return nil // the server reports it
	}
	return p.dial(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")))
}

// dial tries to connect to address and returns the error. It connects once per address.
func (p *planner) dial(address string) error {
	fault, _ := p.addresses.LoadOrStore(address, sync.OnceValue(func() error {
		c, err := net.DialTimeout("tcp", address, dialTimeout)
		if err == nil {
			c.Close()
		}
		return err
	}))
	return fault.(func() error)()
}

var webhookKinds = map[string]string{
	"MutatingWebhookConfiguration": "mutatingwebhookconfigurations", "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}

// checkWebhooks reports the webhooks of the input and the initial state that are skipped.
func (p *planner) checkWebhooks(ctx context.Context) error {
	level := levelError
	if p.AllowMissingWebhooks {
		level = levelWarning
	}
	check := func(configuration tree.Tree, note func(level, rule, field, message string)) {
		for i, one := range configuration.Objects("webhooks") {
			if err := p.webhookFault(one.Object("clientConfig")); err != nil {
				note(level, "Webhook", tree.IndexPath("webhooks", i)+".clientConfig", fmt.Sprintf("webhook %q cannot be called: %v", one.String("name"), err))
			}
		}
	}
	declared := map[string]bool{}
	for _, o := range p.all {
		if webhookKinds[o.Kind] != "" {
			declared[o.title()] = true
			check(o.Object, o.note)
		}
	}
	if p.Config.From == "" {
		return nil
	}
	for kind, resource := range webhookKinds {
		r, err := p.kinds.Own("admissionregistration", resource)
		if err != nil {
			continue // the kind is switched off
		}
		list, err := p.Get(ctx, r.Path("", ""), nil)
		if err != nil {
			return err
		}
		for _, c := range list.Objects("items") {
			if title := kind + " " + c.Name(); !declared[title] {
				check(c, func(level, rule, field, message string) {
					p.other = append(p.other, Finding{p.Config.From, 0, level, rule, field, message, title})
				})
			}
		}
	}
	return nil
}
