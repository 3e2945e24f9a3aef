package podsecurity

// A check looks at one concern of a Pod. A reason says that it is forbidden, and is short; the detail says
// what exactly is. No reason means that it is allowed.
type check func(p *pod) (reason, detail string)

// A revision is a check since a minor version. A namespace can pin the version, so a server keeps what
// earlier versions demanded, also where later ones demand less.
type revision struct {
	since int
	check check
}

// A control is a check through the versions: the last revision that a version has reached counts. A Pod is
// told of a concern once: at the restricted level the stricter check covers what the baseline one finds.
type control struct {
	revisions []revision // by version, ascending
	// stricter has taken the place of it at the restricted level, since its own first version; nil if
	// nothing has.
	stricter []revision
}

// controls are those of the baseline level, in the order in which violations are listed. The numbers are
// minor versions of the public API in which a check appeared or changed.
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
	{revisions: []revision{{0, sysctls(sysctls0)}, {27, sysctls(sysctls27)}, {29, sysctls(sysctls29)}, {32, sysctls(sysctls32)}}},
	{revisions: []revision{{0, windowsHostProcess}}},
}

// The controls of the restricted level that take the place of one of the baseline level.
var (
	capabilityRevisions = []revision{{22, capabilitiesRestricted}, {25, exceptWindows(capabilitiesRestricted)}}
	procMountRevisions  = []revision{{35, procMount}}
	volumeRevisions     = []revision{{0, restrictedVolumes}}
	seccompRevisions    = []revision{{19, seccompRestricted}, {25, exceptWindows(seccompRestricted)}}
)

// restrictedControls are those of the restricted level, which are listed after the others, also if they
// take the place of one. Users and golden files know this order.
var restrictedControls = [][]revision{
	{{8, allowPrivilegeEscalation}, {25, exceptWindows(allowPrivilegeEscalation)}},
	capabilityRevisions,
	procMountRevisions,
	volumeRevisions,
	{{0, runAsNonRoot}, {35, exceptUserNamespaces(runAsNonRoot)}},
	{{23, runAsUser}, {35, exceptUserNamespaces(runAsUser)}},
	seccompRevisions,
}

// at is the check that counts at a minor version; nil for none. Revisions are ascending, so the last that
// matches is the newest.
func at(revisions []revision, minor int) (found check) {
	for _, r := range revisions {
		if r.since <= minor {
			found = r.check
		}
	}
	return found
}

// checksAt are the checks of a level at a minor version, in the order in which violations are listed. It is
// called once for each level and version, when the server starts.
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

// exceptWindows is a check of what Pods that run on Windows cannot set, so that they are allowed.
func exceptWindows(c check) check {
	return func(p *pod) (reason, detail string) {
		if p.isWindows() {
			return "", ""
		}
		return c(p)
	}
}

// exceptUserNamespaces is a check of what does no harm in a Pod with users of its own. Root in such a Pod
// is an ordinary user of the host.
func exceptUserNamespaces(c check) check {
	return func(p *pod) (reason, detail string) {
		if p.hasUserNamespace() {
			return "", ""
		}
		return c(p)
	}
}
