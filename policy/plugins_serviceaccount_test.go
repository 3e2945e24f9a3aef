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
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

const account = `"serviceAccountName":"a","serviceAccount":"a"`

// TestServiceAccountVolume tests that a Pod gets its account, a token volume with three sources in
// the naming profile, and the pull secrets.
func TestServiceAccountVolume(t *testing.T) {
	for _, c := range []struct {
		naming                *meta.Naming
		volume, path, rootCAs string
	}{
		{meta.Platform, "platform-api-access-", "/var/run/secrets/platform.io/serviceaccount", "platform-root-ca.crt"},
		{meta.Kubernetes, "kube-api-access-", "/var/run/secrets/kubernetes.io/serviceaccount", "kube-root-ca.crt"},
	} {
		cl := newCluster(t, map[string]string{"serviceaccounts ns/default": `{"imagePullSecrets":[{"name":"p"}]}`})
		chain := chainOf(t, cl, c.naming, plugins.ServiceAccount(c.naming, cl, true)...)
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

func TestServiceAccount(t *testing.T) {
	cl := newCluster(t, map[string]string{
		"serviceaccounts ns/a":       `{"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"p"}]}`,
		"serviceaccounts ns/limited": `{"metadata":{"annotations":{"platform.io/enforce-mountable-secrets":"true"}},"automountServiceAccountToken":false,"secrets":[{"name":"s"}],"imagePullSecrets":[{"name":"p"}]}`,
		"serviceaccounts ns/lax":     `{"metadata":{"annotations":{"platform.io/enforce-mountable-secrets":"no"}},"automountServiceAccountToken":false}`,
		"serviceaccounts other/b":    `{}`,
	})
	chain := chainOf(t, cl, meta.Platform, plugins.ServiceAccount(meta.Platform, cl, true)...)
	mirror := func(spec string) string {
		return `{"metadata":{"annotations":{"platform.io/config.mirror":"m"}},"spec":{` + spec + `}}`
	}
	limited := func(spec string) string {
		return `{"spec":{"serviceAccountName":"limited","serviceAccount":"limited","imagePullSecrets":[{"name":"p"}],` + spec + `}}`
	}
	const because = " is not allowed because service account limited does not reference that secret"
	try(t, chain, []attempt{
		{name: "pull secrets", new: `{"spec":{"serviceAccountName":"a"}}`, want: `{"spec":{"imagePullSecrets":[{"name":"p"}],` + account + `}}`},
		{name: "own pull secrets", new: `{"spec":{"serviceAccountName":"a","imagePullSecrets":[{"name":"q"}]}}`, want: `{"spec":{"imagePullSecrets":[{"name":"q"}],` + account + `}}`},
		{name: "no such account", new: `{"spec":{"serviceAccountName":"b"}}`, fault: `error looking up service account ns/b: serviceaccount "b" not found`},
		{name: "no default account in the end", new: `{"spec":{}}`, reinvocation: true, fault: `error looking up service account ns/default: serviceaccount "default" not found`},
		{name: "an update", old: `{"spec":{}}`, new: `{"spec":{}}`},
		{name: "a mirror", new: mirror(`"volumes":[{"secret":{"secretName":""}}]`)},
		{name: "a mirror with an account", new: mirror(account), fault: "a mirror pod may not reference service accounts"},
		{name: "a mirror with a secret", new: mirror(`"volumes":[{"secret":{"secretName":"s"}}]`), fault: "a mirror pod may not reference secrets"},
		{name: "a mirror with env of a secret", new: mirror(`"initContainers":[{"envFrom":[{"secretRef":{"name":"s"}}]}]`), fault: "a mirror pod may not reference secrets"},
		{name: "a mirror with a storage secret", new: mirror(`"volumes":[{"rbd":{"secretRef":{"name":"s"}}}]`), fault: "a mirror pod may not reference secrets"},
		{name: "a mirror with a token", new: mirror(`"volumes":[{"projected":{"sources":[{"serviceAccountToken":{}}]}}]`), fault: "a mirror pod may not use ServiceAccountToken volume projections"},
		{name: "listed secrets", new: limited(`"volumes":[{"secret":{"secretName":"s"}}],"containers":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s"}}},{"value":"v"}]}]`)},
		{name: "another volume", new: limited(`"volumes":[{"secret":{"secretName":"t"}}]`), fault: `volume with secret.secretName="t"` + because},
		{name: "another env", new: limited(`"initContainers":[{"name":"i","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"t"}}}]}]`),
			fault: `init container i with envVar E referencing secret.secretName="t"` + because},
		{name: "another envFrom", new: limited(`"containers":[{"name":"c","envFrom":[{"secretRef":{"name":"t"}}]}]`), fault: `container c with envFrom referencing secret.secretName="t"` + because},
		{name: "another pull secret", new: `{"spec":{"serviceAccountName":"limited","imagePullSecrets":[{"name":"p"},{"name":"q"}]}}`,
			fault: `imagePullSecrets[1].name="q" is not allowed because service account limited does not reference that imagePullSecret`},
		{name: "another secret of an ephemeral container", resource: "/pods/ephemeralcontainers", old: limited(`"containers":[]`),
			new:   limited(`"ephemeralContainers":[{"name":"e","env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"t"}}}]}]`),
			fault: `ephemeral container e with envVar E referencing secret.secretName="t"` + because},
		{name: "no limit", new: `{"spec":{"serviceAccountName":"lax","serviceAccount":"lax","volumes":[{"secret":{"secretName":"t"}}]}}`},
	})
}

// TestServiceAccountWaits tests that a new Pod waits for the default account only.
func TestServiceAccountWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cl := newCluster(t, nil)
		chain := chainOf(t, cl, meta.Platform, plugins.ServiceAccount(meta.Platform, cl, true)...)
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
		c, err := admit(pod(`"serviceAccountName":"default","serviceAccount":"default"`))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(50 * time.Millisecond)
			cl.put("serviceaccounts ns/default", `{}`)
		}()
		if err := c.Admit(request.MayBlock); err != nil {
			t.Fatal(err)
		}
		if got := canonical(c.New); !strings.Contains(got, `"serviceAccountName":"default"`) || !strings.Contains(got, "platform-api-access-") || c.Waits() {
			t.Errorf("got %s", got)
		}
		delete(cl.objects, "serviceaccounts ns/default")
		if c, err = admit(pod("")); err != nil {
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
