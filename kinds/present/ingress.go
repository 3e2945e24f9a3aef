package present

import "strings"

// maxHosts is how many hosts of an Ingress a table shows.
const maxHosts = 3

// showIngressHosts lists the hosts of the rules; every rule counts, with a host or without.
func showIngressHosts(b []byte, r *row, _ string) []byte {
	rules, hosts, more := 0, []string{}, false
	r.json.at("spec.rules").items(func(rule value) bool {
		rules++
		more = more || len(hosts) == maxHosts
		if host := rule.field("host").text(); host != "" && !more {
			hosts = append(hosts, host)
		}
		return true
	})
	if !more {
		return appendOr(b, strings.Join(hosts, ","), "*")
	}
	return appendText(b, joinAtMost(hosts, maxHosts, rules, ","))
}

func showIngressPorts(b []byte, r *row, _ string) []byte {
	if r.json.at("spec.tls").count() > 0 {
		return appendText(b, "80, 443")
	}
	return appendText(b, "80")
}

// showClassParameters names what configures an IngressClass: "Kind.group/name".
func showClassParameters(b []byte, r *row, _ string) []byte {
	p := r.json.at("spec.parameters")
	if !p.exists() {
		return appendText(b, none)
	}
	text := p.field("kind").text()
	if group := p.field("apiGroup"); group.exists() {
		text += "." + group.text()
	}
	return appendText(b, text+"/"+p.field("name").text())
}

// showAddressParent names what an IPAddress belongs to: "services/ns/name".
func showAddressParent(b []byte, r *row, _ string) []byte {
	p := r.json.at("spec.parentRef")
	if !p.exists() {
		return appendText(b, none)
	}
	text := p.field("resource").text()
	if group := p.field("group").text(); group != "" {
		text += "." + group
	}
	text = strings.ToLower(text)
	if namespace := p.field("namespace").text(); namespace != "" {
		text += "/" + namespace
	}
	return appendText(b, text+"/"+p.field("name").text())
}
