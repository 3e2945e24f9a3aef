package main

import "slices"

func faults() []fault {
	return slices.Concat(storeFaults, etcdFaults, watchFaults, journalFaults, mutationFaults, policyFaults, parserFaults)
}

// storeFaults lists faults in the handling of stored objects and resource versions.
var storeFaults = []fault{
	{
		"a deleted object stays in the field index", "actors/collection.go",
		"			x.delete(at, r.previous)", "			_ = at",
		"./actors -run FieldIndex",
	},
	{
		"an updated object is found under its old field value", "actors/collection.go",
		"		if r.previous != nil {\n			x.delete(", "		if r.previous != nil && c.remove {\n			x.delete(",
		"./actors -run FieldIndex",
	},
	{
		"a revision counts as applied before all collections publish it", "actors/appliedrevision.go",
		"for len(a.batches) > 0 && a.batches[0].pending == 0 {", "for len(a.batches) > 0 && a.batches[0].pending <= 1 {",
		"./actors -run AppliedRevision",
	},
	{
		"a write is acknowledged before it is readable", "actors/collection.go",
		"	p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: last})",
		"	go p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: last})",
		"./actors -run WritersRead",
	},
	{
		"a dry run is stored", "actors/object.go",
		"	case m.mutation.DryRun:\n		return", "	case m.mutation.DryRun && c.Op == mutation.Remove:\n		return",
		"./actors -run DryRun",
	},
	{
		"an admission decision is used after the object has changed", "actors/object.go",
		"	if versionOf(current) != m.waited.base {", "	if versionOf(current) == 0 && m.waited.base != 0 {",
		"./actors -run Admission",
	},
	{
		"the reservation of a refused change is never released", "actors/object.go",
		"	if !reply.accepted {\n		c.Reserved.Release()", "	if !reply.accepted {\n		_ = c.Reserved",
		"./test/api -run TestConventions/dryrun-allocates",
	},
	{
		"a request that panics gets no response", "actors/object.go",
		"			if !answered {\n				m.answer(mutateReply{err: err})\n			}", "			_, _ = err, answered",
		"./actors -run Panic -timeout 60s",
	},
	{
		"a request gets two responses", "actors/object.go",
		"	answered = true\n	m.answer(reply)", "	answered = true\n	m.answer(reply)\n	m.answer(reply)",
		"./actors -run Panic -timeout 60s",
	},
	{
		"a cached conversion is used for all revisions of an object", "actors/internal/conversion/cache.go",
		"version: o.Version, deleted: deleted, kind: k}", "version: 1, deleted: deleted, kind: k}",
		"./actors/internal/conversion",
	},
	{
		"the chunks of a list skip an object", "actors/index.go",
		"	s.objects.Ascend(max(from, prefix), func(path string, o *meta.Object) bool {\n		return strings.HasPrefix(path, prefix) && fn(path, o)",
		"	s.objects.Ascend(max(from, prefix), func(path string, o *meta.Object) bool {\n		return strings.HasPrefix(path, prefix) && (path == from && from != \"\" || fn(path, o))",
		"./actors -run Chunks|Exact",
	},
	{
		"a namespace lists objects of another one with the same prefix", "actors/index.go",
		"		prefix = namespace + \"/\"", "		prefix = namespace",
		"./test/api -run TestConventions/namespaces-apart",
	},
	{
		"remainingItemCount is one too small", "actors/index.go",
		"	return max(end-s.rank(from), 0)", "	return max(end-s.rank(from)-1, 0)",
		"./test/api -run TestConventions/remaining",
	},
}

// etcdFaults lists faults of servers that share an etcd.
var etcdFaults = []fault{
	{
		"a read does not wait for the newest revision", "persist/etcd/history.go",
		"		err = l.awaitConfirmed(ctx, now.revision)\n", "		err = nil\n",
		"./test/storage -run ^TestSimulationReplicas$",
	},
	{
		"a transaction without a response counts as not committed", "persist/etcd/append.go",
		"	err := l.decide(ctx)\n	switch {\n	case !l.withdraw(r)", "	err := error(nil)\n	l.undecided = false\n	switch {\n	case !l.withdraw(r)",
		"./test/storage -run ^TestSimulationReplicas$",
	},
	{
		"a write is acknowledged before the watch delivers it", "persist/etcd/append.go",
		"		return l.awaitDelivery(ctx, r)\n",
		"		_ = l.withdraw(r)\n		r.revision, r.committed = l.recordAt, make([]bool, len(r.writes))\n		for i := range r.committed {\n			r.committed[i] = true\n		}\n		return nil\n",
		"./test/storage -run ^TestSimulationReplicas$",
	},
	{
		"the state is not read again after a compaction", "persist/etcd/follow.go",
		"	err = l.state.Rebuild(", "	err = func(persist.Revision, func(func(persist.Item) error) error) error { return nil }(",
		"./test/storage -run ^TestSimulationReplicas$",
	},
}

// watchFaults lists faults in watches and the watch history.
var watchFaults = []fault{
	{
		"a resumed watch repeats the change it resumes from", "actors/history.go",
		"		if r != nil && r.version > c.after {", "		if r != nil && r.version >= c.after {",
		"./actors -run History|Watch",
	},
	{
		"a watch resumes one change before the history begins", "actors/history.go",
		"after: version}, version >= h.floor.Load()", "after: version}, version+1 >= h.floor.Load()",
		"./actors -run History",
	},
	{
		"a cursor skips changes that were dropped before it", "actors/history.go",
		"		if r == nil && c.after < c.history.floor.Load() {\n			return into, false\n		}\n", "",
		"./actors -run History",
	},
	{
		"the history loses the first change of each chunk", "actors/history.go",
		"		last, n = fresh, 0", "		last, n = fresh, 1",
		"./actors -run History",
	},
	{
		"leaving a selector is reported with the old version", "actors/watchevents.go",
		"		return request.Event{Type: request.Deleted, Object: w.collection.history.deselected(r)}, true",
		"		return request.Event{Type: request.Deleted, Object: r.previous}, true",
		"./test/storage -run WatchHistories",
	},
	{
		"entering a selector is reported as MODIFIED", "actors/watchevents.go",
		"	case is:\n		return request.Event{Type: request.Added,", "	case is:\n		return request.Event{Type: request.Modified,",
		"./test/storage -run WatchHistories",
	},
	{
		"leaving a selector is not reported", "actors/watchevents.go",
		"	case was:\n		return request.Event{Type: request.Deleted, Object: w.collection", "	case was && w.converts:\n		return request.Event{Type: request.Deleted, Object: w.collection",
		"./test/storage -run WatchHistories",
	},
	{
		"a watch that fell behind continues with a gap", "actors/watchevents.go",
		"			w.fail(tooOld(w.cursor.after, w.collection.history.floor.Load()))", "			w.cursor, ok = w.collection.history.seek(w.collection.history.floor.Load())",
		"./test/storage -run Expired",
	},
	{
		"a bookmark promises more than was delivered", "actors/watchevents.go",
		"	w.buffer = append(w.buffer[:0], request.Event{Type: request.Bookmark, Version: w.sent})", "	w.buffer = append(w.buffer[:0], request.Event{Type: request.Bookmark, Version: w.sent + 1})",
		"./test/api -run Bookmarks",
	},
	{
		"initial events end too early", "actors/watchevents.go",
		"		if len(w.buffer) == eventBatch {\n			alive = w.flushInitial()\n		}", "		if len(w.buffer) == eventBatch {\n			return false\n		}",
		"./actors -run InitialEvents",
	},
	{
		"a DELETED event lacks the last state", "actors/collection.go",
		"		r.kind = removed\n		r.previous, _ = p.working.Delete(at)", "		r.kind = changed\n		r.previous, _ = p.working.Delete(at)",
		"./actors -run Watch",
	},
	{
		"a wake-up during a delivery is lost", "actors/watchevents.go",
		"	w.cursor.skipTo(w.unread.Swap(0))\n", "	w.cursor.skipTo(w.unread.Load())\n	defer w.unread.Store(0)\n",
		"./actors -run WokenWhile",
	},
}

// journalFaults lists faults in the journal, backups and recovery.
var journalFaults = []fault{
	{
		"resource versions continue at those of the backup after a restore", "persist/restore.go",
		"s.given + restoreRevisionGap + restoreRevisionRate*Revision(elapsed), nil}", "s.given + 0*Revision(elapsed), nil}",
		"./persist -run Restore",
	},
	{
		"a batch that does not follow its predecessor is replayed", "persist/recover.go",
		"		if i > 0 && s.first != run.last+1 {", "		if i > 0 && s.first > run.last+1 && false {",
		"./persist -run MissingSegment",
	},
	{
		"a lost end of the journal is not detected", "persist/recover.go",
		"		if what := m.missingFrom(done); what != \"\" {\n			return &DataLossError{File: s.path, What: what}\n		}", "		_ = m",
		"./persist -run Loss|Truncate",
	},
	{
		"a batch that does not fit is acknowledged", "persist/append.go",
		"	if errors.Is(err, ErrNoSpace) {\n		j.setDiskFull(\"no space for a write\")\n	}", "	if errors.Is(err, ErrNoSpace) {\n		err = nil\n	}",
		"./persist -run Full|Disk",
	},
	{
		"a write is visible before it is durable", "persist/append.go",
		"	if err = j.writeBatch(batch, commits); errors.Is(err, ErrNoSpace) && j", "	j.subscriber(commits, commits[len(commits)-1].Revision)\n	if err = j.writeBatch(batch, commits); errors.Is(err, ErrNoSpace) && j",
		"./persist -run Model|Crash|Failed",
	},
	{
		"the conditions of a write ignore earlier writes of its batch", "persist/append.go",
		"		have, known := within[c.Key]\n		if !known {", "		have, known := within[c.Key]\n		if !known || true {",
		"./persist -run Condition|Model",
	},
	{
		"a write based on a refused write is stored", "persist/append.go",
		"		if have := within[w.Key]; base.Err != nil || have.revision != base.Revision {", "		if have := within[w.Key]; base.Err == nil && have.revision != base.Revision {",
		"./persist -run BasedOn",
	},
	{
		"revisions are reused after a crash", "persist/append.go",
		"		if err := j.reserveRevisions(len(commits)); err != nil {\n			return err\n		}\n", "",
		"./persist -run Reserved|Loss",
	},
	{
		"directories of the first format are not opened", "persist/journal.go",
		"	if err != nil || formatOf == previousFormat {", "	if err != nil || formatOf == 0 {",
		"./test/tools/releases",
	},
	{
		"a new segment's name is not durable", "persist/segment.go",
		"	err = fs.SyncDir(dir)\n	if isTransient(err) {", "	if isTransient(err) {",
		"./persist -run Crash",
	},
	{
		"a segment without a header is used as the newest", "persist/recover.go",
		"	if n := len(run.segments); n > 0 && run.segments[n-1].size == 0 {", "	if n := len(run.segments); n > 0 && run.segments[n-1].size < 0 {",
		"./persist -run Crash",
	},
	{
		"a damaged snapshot is skipped although the older journal is gone", "persist/recover.go",
		"first == 0 || first > run.base+1 {", "first == 0 {",
		"./persist -run FlipEveryBit",
	},
	{
		"a full disk loses the length that the watermark promises", "persist/activesegment.go",
		"max(least, j.promisedLength())", "end",
		"./persist -run FullDiskWithoutWatermark",
	},
	{
		"a full disk shortens the journal temporarily", "persist/activesegment.go",
		"switch err := j.file.Zero(end, max(size, length)); {", "switch err := fmt.Errorf(\"%d: %w\", size, errors.ErrUnsupported); {",
		"./persist -run FullDiskWithoutWatermark",
	},
	{
		"a failed sync of a new segment is retried", "persist/rotate.go",
		"	if errors.Is(err, errUnsynced) {\n		return j.fail(", "	if errors.Is(err, errUnsynced) {\n		return fmt.Errorf(\"%w: %w\", ErrFailed, ",
		"./persist -run FailedSyncOfSegment",
	},
	{
		"the checksum of a batch body is not checked", "persist/segment.go",
		"	return f, body, f.checkBody(body), nil", "	return f, body, nil, nil",
		"./persist -run FlipEveryBit|CrashEverywhere",
	},
	{
		"a restore to the middle of a batch includes the whole batch", "persist/point.go",
		"(s.to.Revision == 0 || c.Revision <= s.to.Revision)", "true",
		"./persist -run TestPoints$",
	},
	{
		"a restore to a time includes later changes", "persist/point.go",
		"s.reached = s.reached || later && f.last > s.revision;", "s.reached = s.reached || later && f.last < s.revision;",
		"./persist -run TestPoints$",
	},
	{
		"the journal of another directory continues a backup", "persist/point.go",
		"of != labels[historyLabel]", "labels == nil",
		"./persist -run PointOfAnotherHistory",
	},
	{
		"a restored point continues below assigned revisions", "persist/point.go",
		"s.given = max(s.given, m.maxRevision, m.newest)", "_ = m.maxRevision",
		"./persist -run TestPoints$",
	},
	{
		"a journal with a lost end is restored as if complete", "persist/point.go",
		"err == nil && s.revision < m.newest", "err == nil && m.newest == 0",
		"./persist -run PointsOfDamage",
	},
	{
		"the archive keeps the oldest files instead of the newest", "persist/archive.go",
		"list[:i+1]", "list[i+1:]",
		"./persist -run ArchiveIsBounded",
	},
	{
		"a full disk keeps the archive", "persist/append.go",
		"errors.Is(err, ErrNoSpace) && j.dropArchive()", "errors.Is(err, ErrNoSpace) && false",
		"./persist -run FullDiskTakesTheArchive",
	},
	{
		"foreign bytes behind a finished segment count as damage", "persist/segment.go",
		"s.successor == done.next", "false",
		"./persist -run ForeignBlocks$",
	},
	{
		"a removed segment reappears under its name", "persist/archive.go",
		"gone, dir := path+tempSuffix, filepath.Dir(path)\n	err := fsys.Rename(path, gone)", "gone, dir := path, filepath.Dir(path)\n	var err error",
		"./persist -run ForeignBlocksOf",
	},
	{
		"an accepted loss drops the journal", "persist/salvage.go",
		"		return put(c)\n", "		return nil\n",
		"./persist -run MissingFiles",
	},
	{
		"a backup with trailing bytes is restored", "persist/restore.go",
		"in.r, more[:]); !errors.Is(err, io.EOF) {", "in.r, more[:]); errors.Is(err, io.ErrClosedPipe) {",
		"./persist -run CheckBackup",
	},
	{
		"overlapping segments of the archive pass verification", "persist/verify.go",
		"s.first < next && before.path != \"\"", "s.first < 0*next && before.path != \"\"",
		"./persist -run VerifyFindsGaps",
	},
	{
		"two processes share a data directory", "persist/vfs/lock_unix.go",
		"syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB",
		"./persist -run SecondOpener|Locked",
	},
}

// mutationFaults lists faults in patches, conversion and field ownership.
var mutationFaults = []fault{
	{
		"ownership is lost on conversion", "kinds/managedfields/write.go",
		"	text := encodeFields(served.Message, served.fromStored(after), w.excluded(), true)", "	text := encodeFields(served.Message, after, w.excluded(), true)",
		"./test/api -run ManyUpdaters",
	},
	{
		"an update with an old version wins", "actors/mutation/update.go",
		"	if !cur.Committed || version != strconv.FormatUint(cur.Object.Version, 10) {", "	if !cur.Committed {",
		"./actors/mutation",
	},
	{
		"a deletion sets a generation that an object did not have", "actors/mutation/remove.go",
		"p.cur.Object.Meta.Generation > 0 {", "p.cur.Object.Meta.Generation >= 0 {",
		"./actors/mutation",
	},
	{
		"an update ignores the uid of a recreated object", "actors/mutation/update.go",
		"uid != cur.Object.Meta.UID && !uidCheckedByValidation(m) {", "uid == \"\" && !uidCheckedByValidation(m) {",
		"./actors/mutation",
	},
	{
		"a delete ignores the uid of a recreated object", "actors/mutation/remove.go",
		"uid != nil && *uid != cur.Object.Meta.UID {\n\t\treturn meta.NewConflict(gr", "uid != nil && len(*uid) != len(cur.Object.Meta.UID) {\n\t\treturn meta.NewConflict(gr",
		"./actors/mutation",
	},
	{
		"an update of the main resource changes the status", "actors/mutation/update.go",
		"			want.CopyField(cur.Tree, \"status\")", "			_ = cur",
		"./test/api -run Status",
	},
	{
		"a status update changes labels and finalizers", "actors/mutation/update.go",
		"	out := maps.Clone(want)\n	for _, name := range slices.Concat(keeps, []string{", "	out := maps.Clone(want)\n	for _, name := range slices.Concat(keeps[:0], []string{",
		"./test/api -run Status",
	},
	{
		"a label change raises the generation", "actors/mutation/update.go",
		"	case \"metadata\", \"kind\", \"apiVersion\":\n		return false", "	case \"kind\", \"apiVersion\":\n		return false",
		"./actors/mutation",
	},
	{
		"a deletion timestamp changes", "actors/mutation/update.go",
		"metadata.CopyField(old, \"deletionTimestamp\")", "_ = metadata",
		"./actors/mutation",
	},
	{
		"a no-op write is stored", "actors/mutation/mutation.go",
		"	if cur.Object != nil && !cur.Outdated && codec.EqualIgnoringVersion(cur.Object.JSON, c.Encoded) {", "	if cur.Object != nil && cur.Outdated && codec.EqualIgnoringVersion(cur.Object.JSON, c.Encoded) {",
		"./actors/mutation",
	},
	{
		"a terminating object without finalizers stays", "actors/mutation/mutation.go",
		"	if c.Head.Terminating && len(c.Head.Finalizers) == 0 && removable(stored, object) {", "	if c.Head.Terminating && len(c.Head.Finalizers) < 0 && removable(stored, object) {",
		"./actors/mutation",
	},
	{
		"an object with a finalizer is removed", "actors/mutation/remove.go",
		" && len(o.Meta.Finalizers) == 0 &&\n		(policy", " &&\n		(policy",
		"./actors/mutation",
	},
	{
		"a finalizer is added to a terminating object", "kinds/rules/metadata.go",
		"		validateNoNewFinalizers(m, old, faults)\n", "",
		"./test/api -run TestConventions/late-finalizers",
	},
	{
		"a refused create leaks an address", "actors/mutation/create.go",
		"	pending, causes := p.env.allocate(m.Key, nil, object)\n	defer func() { pending.Release() }()", "	pending, causes := p.env.allocate(m.Key, nil, object)",
		"./actors/mutation -run RefusalReleases",
	},
	{
		"a create keeps the status of its body", "kinds/schema/prepare.go",
		"	if old == nil {\n		delete(obj, \"status\")\n	}\n", "	_ = old\n",
		"./actors/mutation -run Mutations/Create",
	},
	{
		"a create of a custom object keeps the status of its body", "actors/mutation/create.go",
		"		delete(p.want, \"status\")\n", "",
		"./test/extension -run CustomTranscripts",
	},
	{
		"a create keeps the deletion timestamp of its body", "actors/mutation/create.go",
		"{\"resourceVersion\", \"deletionTimestamp\",", "{\"resourceVersion\",",
		"./actors/mutation",
	},
	{
		"a grace period is extended", "actors/mutation/remove.go",
		"	if !ok || to >= old {", "	if !ok {",
		"./actors/mutation",
	},
}

// policyFaults lists faults in authentication, authorization and admission.
var policyFaults = []fault{
	{
		"a token outlives the object it is bound to", "policy/authn/serviceaccount/validate.go",
		"	case head.UID != to.uid:\n		return until, fmt.Errorf(", "	case head.UID == \"\":\n		return until, fmt.Errorf(",
		"./policy -run ForgedTokens",
	},
	{
		"a token removed from its Secret is accepted", "policy/authn/serviceaccount/validate.go",
		"	if err != nil || subtle.ConstantTimeCompare(held, []byte(token)) != 1 {", "	if err != nil || subtle.ConstantTimeCompare(held, nil) == 1 {",
		"./policy -run LegacyTokenRevocation",
	},
	{
		"an invalid token with a valid certificate is accepted", "policy/authn/bearer.go",
		"	case user == nil:\n		return nil, ErrUnknownToken\n", "	case user == nil:\n		return b.others.Authenticate(r)\n",
		"./policy/authn",
	},
	{
		"proxy headers are accepted with any certificate", "policy/authn/proxy.go",
		"		if len(o.AllowedNames) > 0 && !slices.Contains(o.AllowedNames, name) {", "		if len(o.AllowedNames) > 0 && slices.Contains(o.AllowedNames, \"\") {",
		"./policy/authn",
	},
	{
		"a grant in one namespace applies to all", "policy/authz/rbac/authorizer.go",
		"			g = firstAllowing(held.byNamespace[asked.Namespace], &asked, &lacking)",
		"			for _, list := range held.byNamespace {\n				if g == nil {\n					g = firstAllowing(list, &asked, &lacking)\n				}\n			}",
		"./policy/authz/rbac",
	},
	{
		"a deleted role still grants", "policy/authz/rbac/index.go",
		"	entry.role = compiled\n", "	if compiled != nil {\n		entry.role = compiled\n	}\n",
		"./policy/authz/rbac -run Changes",
	},
	{
		"a deleted binding of the cluster still grants", "policy/authz/rbac/index.go",
		"		s.cluster = slices.DeleteFunc(s.cluster, same)\n", "		_ = same\n",
		"./policy/authz/rbac -run Changes",
	},
	{
		"a changed binding grants as before", "policy/authz/rbac/index.go",
		"		x.unbind(before)\n", "",
		"./policy/authz/rbac -run Changes",
	},
	{
		"a cached token review outlives its expiry", "policy/authn/cache.go",
		"	if !ok || !c.now().Before(kept.expires) {", "	if !ok {",
		"./policy/authn -run Cache",
	},
	{
		"a quota does not count changes in progress", "policy/admission/quota/account.go",
		"			sum = sum.Add(a.held[d.index])", "			_ = a.held[d.index]",
		"./policy/admission/quota",
	},
	{
		"a quota counts a change twice", "policy/admission/quota/account.go",
		"	a.use(u.deltas)\n	a.wake()", "	a.use(u.deltas)\n	a.use(u.deltas)\n	a.wake()",
		"./policy/admission/quota",
	},
	{
		"a quota keeps the usage of failed changes", "policy/admission/quota/account.go",
		"		a.held[d.index] = a.held[d.index].Sub(d.amount)\n	}\n	a.wake()", "		_ = d\n	}\n	a.wake()",
		"./policy/admission/quota -run Usage|Never -timeout 60s",
	},
	{
		"a dry run uses up a quota", "policy/admission/quota/reservation.go",
		"	if p.dryRun {\n		return nil\n	}\n	for", "	for",
		"./policy/admission/quota -run Usage|Never -timeout 60s",
	},
	{
		"a reserved group of a token is kept", "policy/authn/oidc/claims.go",
		"user.Groups = slices.DeleteFunc(user.Groups, isReserved)", "_ = isReserved",
		"./policy -run FuzzOIDCClaims|TestClaims",
	},
	{
		"a token with an unknown critical extension is accepted", "policy/authn/oidc/authenticator.go",
		"; critical {", "; critical && token.Method == nil {",
		"./policy -run TestTokens",
	},
	{
		"a single string of groups is accepted", "policy/authn/oidc/claims.go",
		"case single && groups.Has(\"claim\"):", "case single && groups.Has(\"prefixes\"):",
		"./policy -run FuzzOIDCClaims|TestClaims",
	},
	{
		"a truncated percent escape is read beyond its end", "http/internal/requestinfo/target.go",
		"			if i+2 >= len(s) {\n				return \"\", false\n			}\n			hi, lo", "			hi, lo",
		"./test/storage -run Malformed",
	},
	{
		"a client certificate of any CA is accepted", "policy/authn/certificate.go",
		"	if err != nil {\n		return nil, fmt.Errorf(\"client certificate: %w\", err)\n	}\n	return chains[0], nil", "	if err != nil && len(chains) > 0 {\n		return nil, fmt.Errorf(\"client certificate: %w\", err)\n	}\n	return certs, nil",
		"./test/policy -run MutatedCertificates",
	},
	{
		"verified client certificates are cached by their key", "policy/authn/certificate.go",
		"Digest(sha256.Sum256(certs[0].Raw))", "Digest(sha256.Sum256(certs[0].RawSubjectPublicKeyInfo))",
		"./test/policy -run MutatedCertificates",
	},
	{
		"an expired client certificate is accepted", "policy/authn/certificate.go",
		"CurrentTime: now,", "CurrentTime: certs[0].NotBefore,",
		"./test/policy -run ClientCertificates",
	},
	{
		"a write to a subresource bypasses admission", "actors/mutation/prepared.go",
		"	return p.change(p.want).Validate(request.InTurn)", "	if p.mutation.Subresource != \"\" {\n		return nil\n	}\n	return p.change(p.want).Validate(request.InTurn)",
		"./test/policy -run NothingBypassesAdmission",
	},
	{
		"a patch bypasses admission", "actors/mutation/prepared.go",
		"	return p.change(p.want).Validate(request.InTurn)", "	if request.Is[request.Patch](p.mutation) {\n		return nil\n	}\n	return p.change(p.want).Validate(request.InTurn)",
		"./test/policy -run NothingBypassesAdmission",
	},
	{
		"an apply bypasses admission", "actors/mutation/prepared.go",
		"	return p.change(p.want).Validate(request.InTurn)", "	if request.Is[request.Apply](p.mutation) {\n		return nil\n	}\n	return p.change(p.want).Validate(request.InTurn)",
		"./test/policy -run NothingBypassesAdmission",
	},
	{
		"a delete bypasses admission", "actors/mutation/remove.go",
		"	if err := p.validate(); err != nil {", "	if err := error(nil); err != nil {",
		"./test/policy -run NothingBypassesAdmission",
	},
	{
		"an interrupted migration writes after another one has begun", "persist/etcd/fill.go",
		"Txn(ctx).If(f.own).Then(", "Txn(ctx).Then(",
		"./persist/etcd -run FillIsOvertaken",
	},
	{
		"a failed migration cannot be run again", "persist/unfinished.go",
		"	if err != nil || other != \"\" {\n		return errors.Join(err, lock.Close())", "	if err != nil {\n		return errors.Join(err, lock.Close())",
		"./persist -run RestoreFails",
	},
	{
		"segments leave the archive before its label", "persist/archive.go",
		"full := j.moveArchive(list[i+1:])", "var full error",
		"./persist -run ArchiveCrash",
	},
	{
		"an archive that is disabled keeps its segments", "persist/archive.go",
		"	_, err := j.limitArchive(0)\n	return errors.Join(err, removeSegment(j.fs, s.path))", "	return removeSegment(j.fs, s.path)",
		"./persist -run ArchiveCrash",
	},
	{
		"a read does not wait for writes of other servers", "persist/etcd/confirm.go",
		"	l.stats.confirmations.Add(1)\n", "	if l.stats.confirmations.Add(1); l.ctx.Err() == nil {\n		l.mu.Lock()\n		defer l.mu.Unlock()\n		return l.version, nil\n	}\n",
		"./test/storage -run ReadsAcrossDaemons|HandlersSeeOtherDaemons",
	},
	{
		"an unfinished migration is opened", "persist/etcd/log.go",
		"	case len(found.Kvs) > 0:\n		return fmt.Errorf(\"etcd: a migration", "	case len(found.Kvs) > 1:\n		return fmt.Errorf(\"etcd: a migration",
		"./persist/etcd -run FillIsKilled",
	},
}

// parserFaults lists faults in parsers.
var parserFaults = []fault{
	{
		"a quantity without digits is rejected", "kinds/quantity/quantity.go",
		"if u.exp10 < minExponent || u.shift > maxEmptyShift {", "if u.exp10 < 0 || u.shift > 0 {",
		"./kinds/quantity",
	},
	{
		"one of two YAML keys that are equal in JSON is lost", "kinds/codec/yaml.go",
		"if _, ok := root[name]; ok {", "if _, ok := root[name]; ok && false {",
		"./kinds/codec -run DecodeYAML",
	},
	{
		"the field selector = is compared with an empty name", "kinds/selector/requirement.go",
		"name == \"\" && value == \"\" {", "name == \"\" && value == \"=\" {",
		"./kinds/selector",
	},
	{
		"spaces in a JSONPath are part of a name", "kinds/jsonpath/path.go",
		"c == '.' || c == '[' || c == ' ':", "c == '.' || c == '[':",
		"./kinds/table -run JSONPath|Path",
	},
	{
		"a rejected configuration file takes effect", "cmd/troupe/daemon/settings_file.go",
		"if len(r.errs) == 0 {", "if len(tree) > 0 {",
		"./cmd/troupe/daemon -run ReadIsStrict|FuzzSettings",
	},
}
