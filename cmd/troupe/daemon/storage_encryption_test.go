package daemon

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestEncryptionFaults(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Platform))(t)
	secretOf := func(n int) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, n)) }
	key := "{aesgcm: {keys: [{name: k, secret: " + secretOf(32) + "}]}}"
	const head = "apiVersion: apiserver.config.platform.io/v1\nkind: EncryptionConfiguration\n"
	configOf := func(providers string) string {
		return head + "resources:\n- resources: [secrets]\n  providers: [" + providers + "]\n"
	}
	resources := func(lists ...string) string {
		text := head + "resources:\n"
		for _, list := range lists {
			text += "- resources: [" + list + "]\n  providers: [" + key + "]\n"
		}
		return text
	}
	kms := func(fields string) string { return configOf("{kms: {" + fields + "}}") }
	const plugin = "apiVersion: v2, name: p, endpoint: 'unix:///kms.sock'"
	for _, c := range []struct{ text, fault string }{
		{resources("secrets", "'*.apps'", "'*.*'"), ""},
		{resources("secrets, deployments.apps", "'*.', '*.apps'"), ""},
		{kms(plugin), ""},
		{kms(plugin + ", timeout: 5s"), ""},
		{"", "cannot unmarshal null"},
		{"a: [", "yaml"},
		{"apiVersion: v1\nkind: EncryptionConfiguration", `no kind "EncryptionConfiguration" is registered for version "v1"`},
		{head + "kind: EncryptionConfiguration", `"kind" already set`},
		{head, "resources: Required value: at least one resources is required"},
		{head + "rules: []", `unknown field "rules"`},
		{resources(""), "resources[0].resources: Required value"},
		{head + "resources:\n- resources: [secrets]", "resources[0].providers: Required value"},
		{resources("Secrets"), `resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters`},
		{resources("'*'"), "use '*.' to encrypt all the resources from core API group"},
		{resources("'*.extensions'"), "'extensions' group has been removed"},
		{resources("events.events.platform.io"), "use 'events' instead"},
		{resources("'secrets.*'"), "encrypting the same resource across groups is not supported"},
		{resources("secrets, secrets"), "the same resource cannot be specified multiple times"},
		{resources("secrets, '*.'"), "overlapping resources"},
		{resources("secrets, '*.*'"), "overlapping resources"},
		{resources("'*.'", "secrets"), `resources[1].resources[0]: Invalid value: "secrets": resource "secrets" is masked by earlier rule "*."`},
		{resources("'*.*'", "pods.x"), `resource "pods.x" is masked by earlier rule "*.*"`},
		{configOf("{}"), "resources[0].providers[0]: Required value: provider does not contain any of the expected providers"},
		{configOf("{identity: {}, " + key[1:]), "resources[0].providers[0]: Required value: more than one provider"},
		{configOf("{aesgcm: {keys: []}}"), "resources[0].providers[0].aesgcm.keys: Required value"},
		{configOf("{aesgcm: {keys: [{secret: abcd}]}}"), "resources[0].providers[0].aesgcm.keys[0].name: Required value"},
		{configOf("{aesgcm: {keys: [{name: k}]}}"), "resources[0].providers[0].aesgcm.keys[0].secret: Required value"},
		{configOf("{aescbc: {keys: [{name: k, secret: top-secret}]}}"), `aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`},
		{configOf("{aesgcm: {keys: [{name: k, secret: " + secretOf(31) + "}]}}"), "got 31, expected one of [16 24 32]"},
		{configOf("{secretbox: {keys: [{name: k, secret: " + secretOf(16) + "}]}}"), "secretbox.keys[0].secret: Invalid value: \"REDACTED\": secret is not of the expected length, got 16, expected one of [32]"},
		{configOf("{aesgcm: {keys: [{name: k, secret: [top-secret]}]}}"), "cannot unmarshal array into Go struct field Key.resources.providers.aesgcm.keys.secret of type string"},
		{configOf("{aesgcm: {keys: [{name: k, secret: 1234567890}]}}"), "cannot unmarshal number into Go struct field Key.resources.providers.aesgcm.keys.secret of type string"},
		{kms(plugin + ", timeout: soon"), "invalid duration"},
		{kms("apiVersion: v2, endpoint: 'unix:///a'"), "kms.name: Required value"},
		{kms("apiVersion: v2, name: 'a:b', endpoint: 'unix:///a'"), "must not contain ':'"},
		{kms("apiVersion: v2, name: p"), "kms.endpoint: Required value"},
		{kms("apiVersion: v2, name: p, endpoint: 'https://a'"), `unsupported scheme "https" for KMS provider`},
		{kms(plugin + ", timeout: 0s"), "kms.timeout: Invalid value"},
		{kms(plugin + ", cachesize: 10"), "cachesize is not supported in v2"},
		{kms("name: p, endpoint: 'unix:///a'"), "kms.apiVersion: Invalid value: \"\": KMS v1"},
		{kms("apiVersion: v1, name: p, endpoint: 'unix:///a'"), "KMS v1, the default apiVersion, is not supported"},
		{kms("apiVersion: v3, name: p, endpoint: 'unix:///a'"), "only v2 is supported"},
		{configOf("{kms: {" + plugin + "}}, {kms: {" + plugin + "}}"), "providers[1].kms.name: Invalid value: \"p\": duplicate KMS provider name"},
	} {
		_, err := kinds.DecodeConfig("EncryptionConfiguration", []byte(c.text))
		switch text := fmt.Sprint(err); {
		case c.fault == "":
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
		case !strings.Contains(text, c.fault):
			t.Errorf("%s:\ngot  %v\nwant %s", c.text, err, c.fault)
		case strings.Contains(text, "top-secret") || strings.Contains(text, secretOf(31)) || strings.Contains(text, "1234567890"):
			t.Errorf("a secret is shown: %v", err)
		}
	}
}

func TestEncryptionSyntax(t *testing.T) {
	path := filepath.Join(t.TempDir(), "encryption.yaml")
	must.Succeed(t, os.WriteFile(path, []byte("resources: [{providers: [{aesgcm: {keys: [{secret: *top-secret}]}}]}]"), 0o600))
	if _, err := LoadEncryption(path, meta.Platform); err == nil || err.Error() != path+": not valid YAML" {
		t.Error(err)
	}
}
