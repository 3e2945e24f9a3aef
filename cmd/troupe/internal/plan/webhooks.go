package plan

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// dialTimeout limits the check of a webhook's address.
const dialTimeout = 2 * time.Second

// webhooks finds out which admission webhooks can be called from here. The daemon skips all others,
// because they would make every request fail.
type webhooks struct {
	services map[string]string // addresses by name.namespace

	mu     sync.Mutex
	faults map[string]error // by address; nil if it accepts connections
}

// newWebhooks parses the addresses of Services, in the form name.namespace=host:port.
func newWebhooks(resolver []string) (*webhooks, error) {
	w := &webhooks{services: map[string]string{}, faults: map[string]error{}}
	for _, text := range resolver {
		service, address, ok := strings.Cut(text, "=")
		if !ok {
			return nil, fmt.Errorf("--webhook-service-resolver: %q is not of the form name.namespace=host:port", text)
		}
		w.services[service] = address
	}
	return w, nil
}

func (w *webhooks) missing(clientConfig tree.Tree) bool { return w.fault(clientConfig) != nil }

// fault returns the reason that a webhook cannot be called, or nil.
func (w *webhooks) fault(clientConfig tree.Tree) error {
	if service := clientConfig.Object("service"); service != nil {
		name := service.String("name") + "." + service.String("namespace")
		address, ok := w.services[name]
		if !ok {
			return fmt.Errorf("the address of its Service is unknown: map it with --webhook-service-resolver %s=HOST:PORT", name)
		}
		return w.dial(address)
	}
	u, err := url.Parse(clientConfig.String("url"))
	if err != nil || u.Hostname() == "" {
		return nil // the server reports it
	}
	address := u.Host
	if u.Port() == "" {
		address = net.JoinHostPort(u.Hostname(), "443")
	}
	return w.dial(address)
}

func (w *webhooks) dial(address string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err, known := w.faults[address]
	if !known {
		var c net.Conn
		if c, err = net.DialTimeout("tcp", address, dialTimeout); err == nil {
			c.Close()
		}
		w.faults[address] = err
	}
	return err
}

var webhookKinds = map[string]string{
	"MutatingWebhookConfiguration": "mutatingwebhookconfigurations", "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}

// check reports the webhooks of the input and of the initial state that are not called.
func (w *webhooks) check(ctx context.Context, p *planner) error {
	level := Error
	if p.AllowMissingWebhooks {
		level = Warning
	}
	faults := func(configuration tree.Tree, note func(field, message string)) {
		for i, one := range configuration.Objects("webhooks") {
			if err := w.fault(one.Object("clientConfig")); err != nil {
				note(tree.IndexPath("webhooks", i)+".clientConfig", fmt.Sprintf("webhook %q cannot be called: %v", one.String("name"), err))
			}
		}
	}
	declared := map[[2]string]bool{}
	for _, o := range p.objects {
		if webhookKinds[o.Kind] != "" {
			declared[[2]string{o.Kind, o.Name}] = true
			faults(o.Object, func(field, message string) { o.note(level, "Webhook", field, message) })
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
			if !declared[[2]string{kind, c.Name()}] {
				faults(c, func(field, message string) {
					p.report.other = append(p.report.other, Finding{p.Config.From, 0, level, "Webhook", field, message, kind + " " + c.Name()})
				})
			}
		}
	}
	return nil
}
