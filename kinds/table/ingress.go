package table

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

const maxHosts = 3

// showIngressHosts lists the hosts of the rules. A rule without a host is shown too, because it
// accepts all hosts.
func showIngressHosts(b []byte, r *row, _ string) []byte {
	rules, hosts, more := 0, []string{}, false
	r.json.At("spec.rules").Items(func(rule jsontext.Value) bool {
		rules++
		more = more || len(hosts) == maxHosts
		if host := rule.Field("host").Text(); host != "" && !more {
			hosts = append(hosts, host)
		}
		return true
	})
	if !more {
		return appendOr(b, strings.Join(hosts, ","), "*")
	}
	return jsontext.AppendString(b, joinAtMost(hosts, maxHosts, rules, ","))
}

// showIngressPorts shows 80, and also 443 if there are TLS certificates, because an Ingress has no
// port fields.
func showIngressPorts(b []byte, r *row, _ string) []byte {
	if r.json.At("spec.tls").Count() > 0 {
		return jsontext.AppendString(b, "80, 443")
	}
	return jsontext.AppendString(b, "80")
}

// showClassParameters shows a reference as "Kind.group/name".
func showClassParameters(b []byte, r *row, _ string) []byte {
	p := r.json.At("spec.parameters")
	if !p.Exists() {
		return jsontext.AppendString(b, none)
	}
	text := p.Field("kind").Text()
	if group := p.Field("apiGroup"); group.Exists() {
		text += "." + group.Text()
	}
	return jsontext.AppendString(b, text+"/"+p.Field("name").Text())
}

// showAddressParent shows a reference as "resource.group/namespace/name", such as
// "services/ns/name".
func showAddressParent(b []byte, r *row, _ string) []byte {
	p := r.json.At("spec.parentRef")
	if !p.Exists() {
		return jsontext.AppendString(b, none)
	}
	text := p.Field("resource").Text()
	if group := p.Field("group").Text(); group != "" {
		text += "." + group
	}
	text = strings.ToLower(text)
	if namespace := p.Field("namespace").Text(); namespace != "" {
		text += "/" + namespace
	}
	return jsontext.AppendString(b, text+"/"+p.Field("name").Text())
}
