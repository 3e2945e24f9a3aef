package webhook

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/api/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ValidateClientConfig requires a webhook to have either a valid URL or a valid service.
func ValidateClientConfig(config tree.Tree, path string, faults *schema.Faults) {
	address, byURL := config["url"].(string)
	service, byService := config["service"].(tree.Tree)
	switch {
	case byURL == byService:
		faults.Required(path, "exactly one of url or service is required")
	case byURL:
		validateWebhookURL(address, path+".url", faults)
	default:
		validateWebhookService(service, path+".service", faults)
	}
}

const urlForm = "; desired format: https://host[/path]"

// validateWebhookURL requires TLS, because reviews contain whole objects. It rejects user
// information and a query, because every reader of the configuration would see credentials in them.
func validateWebhookURL(address, path string, faults *schema.Faults) {
	u, err := url.Parse(address)
	if err != nil {
		faults.Required(path, "url must be a valid URL: "+err.Error()+urlForm)
		return
	}
	if u.Scheme != "https" {
		faults.Invalid(path, u.Scheme, "'https' is the only allowed URL scheme"+urlForm)
	}
	if u.Host == "" {
		faults.Invalid(path, u.Host, "host must be specified"+urlForm)
	}
	if u.User != nil {
		faults.Invalid(path, "<user information>", "user information is not permitted in the URL")
	}
	if u.Fragment != "" {
		faults.Invalid(path, u.Fragment, "fragments are not permitted in the URL")
	}
	if u.RawQuery != "" {
		faults.Invalid(path, u.RawQuery, "query parameters are not permitted in the URL")
	}
}

// validateWebhookService requires a namespace, because the configuration is cluster-scoped.
func validateWebhookService(service tree.Tree, path string, faults *schema.Faults) {
	if service.String("name") == "" {
		faults.Required(path + ".name")
	}
	if service.String("namespace") == "" {
		faults.Required(path + ".namespace")
	}
	ValidateReferencePort(service, path, faults)
	if p := service.String("path"); p != "" && p != "/" {
		validateServicePath(p, path+".path", faults)
	}
}

// validateServicePath requires each segment of a path to be a DNS subdomain, because proxies never
// rewrite such paths. A trailing slash is allowed.
func validateServicePath(p, path string, faults *schema.Faults) {
	if p == "//" {
		faults.Invalid(path, p, "segment[0] may not be empty")
		return
	}
	if !strings.HasPrefix(p, "/") {
		faults.Invalid(path, p, "must start with a '/'")
	}
	for i, step := range strings.Split(strings.TrimSuffix(p[1:], "/"), "/") {
		if step == "" {
			faults.Invalid(path, p, fmt.Sprintf("segment[%d] may not be empty", i))
			continue
		}
		for _, msg := range rules.Subdomain(step) {
			faults.Invalid(path, p, fmt.Sprintf("segment[%d]: %s", i, msg))
		}
	}
}

// ValidateCABundle requires base64-encoded PEM certificates. It also accepts white space, which
// tools use as a placeholder, and the object's previous bundles in known, so that old objects can
// be updated and deleted.
func ValidateCABundle(text string, known []string, path string, faults *schema.Faults) {
	if text == "" || slices.Contains(known, text) {
		return
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		return
	}
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(data) {
		faults.Invalid(path, text, "unable to load root certificates: unable to parse bytes as PEM block")
	}
}

// ValidateReferencePort checks the port of a service reference, if present.
func ValidateReferencePort(service tree.Tree, path string, faults *schema.Faults) {
	if port, ok := service.Int("port"); ok && (port < 1 || port > 65535) {
		faults.Invalid(path+".port", port, "port is not valid: "+field.BoundsMsg(1, 65535))
	}
}
