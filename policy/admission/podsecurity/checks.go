package podsecurity

// A check tests one aspect of a Pod. It returns a short reason and details of a violation, or an
// empty reason.
type check func(p *pod) (reason, detail string)

// A revision is a check's implementation starting at a minor version. Older revisions are kept,
// because namespaces can pin versions.
type revision struct {
	since int
	check check
}

// A control holds the revisions of a check. The newest revision up to the policy version applies.
type control struct {
	revisions []revision // by version, ascending
	// stricter, if not nil, replaces the control at the restricted level, starting at the version
	// of its first revision. A Pod then gets only one violation per aspect.
	stricter []revision
}

// controls lists the baseline controls in reporting order. The numbers are minor versions of
// Kubernetes.
var controls = []control{
	{revisions: []revision{{0, appArmorProfile}}},
	{revisions: []revision{{0, capabilitiesBaseline}}, stricter: capabilityRevisions},
	{revisions: []revision{{0, hostNamespaces}}},
	{revisions: []revision{{0, hostPathVolumes}}, stricter: volumeRevisions},
	{revisions: []revision{{0, hostPorts}}},
	{revisions: []revision{{34, hostProbes}}},
	{revisions: []revision{{0, privileged}}},
	{revisions: []revision{{0, procMount}, {35, exceptUserNamespaces(procMount)}}, stricter: procMountRevisions},
	{revisions: []revision{{0, seLinuxOptions(seLinuxTypes)}, {31, seLinuxOptions(seLinuxTypes31)}}},
	{revisions: []revision{{0, seccompAnnotations}, {19, seccompBaseline}}, stricter: seccompRevisions},
	{revisions: []revision{{0, sysctls(sysctls0)}, {27, sysctls(sysctls27)}, {29, sysctls(sysctls29)}, {32, sysctls(sysctls32)}, {37, sysctls(sysctls37)}}},
	{revisions: []revision{{0, windowsHostProcess}}},
}

// Restricted controls that replace a baseline control.
var (
	capabilityRevisions = []revision{{22, capabilitiesRestricted}, {25, exceptWindows(capabilitiesRestricted)}}
	procMountRevisions  = []revision{{35, procMount}}
	volumeRevisions     = []revision{{0, restrictedVolumes}}
	seccompRevisions    = []revision{{19, seccompRestricted}, {25, exceptWindows(seccompRestricted)}}
)

// restrictedControls lists the restricted controls. Their violations are reported last. Users and
// golden files depend on the order.
var restrictedControls = [][]revision{
	{{8, allowPrivilegeEscalation}, {25, exceptWindows(allowPrivilegeEscalation)}},
	capabilityRevisions,
	procMountRevisions,
	volumeRevisions,
	{{0, runAsNonRoot}, {35, exceptUserNamespaces(runAsNonRoot)}},
	{{23, runAsUser}, {35, exceptUserNamespaces(runAsUser)}},
	seccompRevisions,
}

func at(revisions []revision, minor int) (found check) {
	for _, r := range revisions {
		if r.since <= minor {
			found = r.check
		}
	}
	return found
}

func checksAt(level Level, minor int) (all []check) {
	if level == Privileged {
		return nil
	}
	add := func(c check) {
		if c != nil {
			all = append(all, c)
		}
	}
	for _, c := range controls {
		if level == Baseline || at(c.stricter, minor) == nil {
			add(at(c.revisions, minor))
		}
	}
	if level == Restricted {
		for _, revisions := range restrictedControls {
			add(at(revisions, minor))
		}
	}
	return all
}

// exceptWindows exempts Windows Pods, which cannot set the field.
func exceptWindows(c check) check {
	return func(p *pod) (reason, detail string) {
		if p.isWindows() {
			return "", ""
		}
		return c(p)
	}
}

// exceptUserNamespaces exempts Pods with a user namespace, where root is an unprivileged user of
// the host.
func exceptUserNamespaces(c check) check {
	return func(p *pod) (reason, detail string) {
		if p.hasUserNamespace() {
			return "", ""
		}
		return c(p)
	}
}
