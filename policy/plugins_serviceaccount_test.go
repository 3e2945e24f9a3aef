package policy_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy/admission"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func newAccountChain(t *testing.T, c *fakeCluster, naming *meta.Naming) *admission.Chain {
	t.Helper()
	return newChain(t, c, naming, admission.PluginConfig{}, plugins.ServiceAccount(naming, c, true)...)
}

// TestServiceAccountVolume checks the account, the pull secrets and the token volume of a Pod. The
// volume's sources must use the names of the naming profile.
func TestServiceAccountVolume(t *testing.T) {
	for _, c := range []struct {
		naming                *meta.Naming
		volume, path, rootCAs string
	}{
		{meta.Platform, "platform-api-access-", "/var/run/secrets/platform.io/serviceaccount", "platform-root-ca.crt"},
		{meta.Kubernetes, "kube-api-access-", "/var/run/secrets/kubernetes.io/serviceaccount", "kube-root-ca.crt"},
	} {
		cl := newCluster(t, map[string]object{"serviceaccounts ns/default": object(`{"imagePullSecrets":[{"name":"p"}]}`)})
		chain := newAccountChain(t, cl, c.naming)
		object := parseTree(t, `{"spec":{"containers":[{"name":"c"},{"name":"own","volumeMounts":[{"name":"v","mountPath":"`+c.path+`"}]}],"initContainers":[{"name":"i"}],"volumes":[{"name":"v"}]}}`)
		k := kind("", "pods")
		change := request.NewAttributes(t.Context(), &request.Mutation{Kind: k, Key: meta.Key{Namespace: "ns"}, Admission: chain.For(nil, k, "", "ns")}, nil, object)
		for range 2 { // the second time changes nothing
			if err := change.Admit(request.InTurn); err != nil {
				t.Fatal(err)
			}
			change.Reinvocation = true
		}
		got := canonical(object)
		suffix := regexp.MustCompile(c.volume + "[bcdfghjklmnpqrstvwxz2456789]{5}\"").FindString(got)
		got = strings.ReplaceAll(got, suffix, c.volume+`R"`)
		mount := `{"mountPath":"` + c.path + `","name":"` + c.volume + `R","readOnly":true}`
		want := `{"spec":{"containers":[{"name":"c","volumeMounts":[` + mount + `]},{"name":"own","volumeMounts":[{"mountPath":"` + c.path + `","name":"v"}]}],` +
			`"imagePullSecrets":[{"name":"p"}],"initContainers":[{"name":"i","volumeMounts":[` + mount + `]}],"serviceAccount":"default","serviceAccountName":"default",` +
			`"volumes":[{"name":"v"},{"name":"` + c.volume + `R","projected":{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},` +
			`{"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"` + c.rootCAs + `"}},` +
			`{"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}}]}}`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestServiceAccountWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, nil)
		chain := newAccountChain(t, cl, meta.Platform)
		k := kind("", "pods")
		waits := func(p *request.Plugin) bool { return p.Stage == request.MayBlock && p.Operations != request.OnCreate }
		if all := chain.For(nil, k, "", "ns"); !all.MayBlock() || slices.ContainsFunc(all.Plugins, waits) || chain.For(nil, k, "ephemeralcontainers", "ns").MayBlock() {
			t.Error("more than new Pods may have to wait")
		}
		admit := func(text string) (*request.Attributes, error) {
			m := &request.Mutation{Change: request.Create{}, Kind: k, Key: meta.Key{Namespace: "ns", Name: "x"}, Admission: chain.For(nil, k, "", "ns")}
			c := request.NewAttributes(t.Context(), m, nil, parseTree(t, text))
			if err := c.Admit(request.InTurn); err != nil {
				return c, err
			}
			if !c.Waits() {
				t.Errorf("%s does not wait", text)
			}
			return c, nil
		}
		if _, err := admit(`{"spec":{"serviceAccountName":"other"}}`); err == nil {
			t.Error("an account other than the default one may come")
		}
		c, err := admit(`{"spec":{"containers":[{"name":"c"}],"serviceAccountName":"default","serviceAccount":"default"}}`)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(50 * time.Millisecond)
			cl.set(t, "serviceaccounts ns/default", `{}`)
		}()
		if err := c.Admit(request.MayBlock); err != nil {
			t.Fatal(err)
		}
		if got := canonical(c.New); !strings.Contains(got, `"serviceAccountName":"default"`) || !strings.Contains(got, "platform-api-access-") || c.Waits() {
			t.Errorf("got %s", got)
		}
		cl.set(t, "serviceaccounts ns/default", "")
		if c, err = admit(`{"spec":{}}`); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		c.Context = ctx
		err = c.Admit(request.MayBlock)
		if err == nil || !strings.Contains(err.Error(), `error looking up service account ns/default: serviceaccount "default" not found`) {
			t.Errorf("it does not come: %v", err)
		}
	})
}
