package main

// settings are those that answer something that an operator can see, in the order of the table. The
// value in bold is the default.
func settings() []setting {
	return []setting{
		{
			symptom: "Requests cost more than they should, and much of it is the system's time",
			shows:   "`requests`; `process_cpu_seconds_system_total`",
			key:     "`audit.log.mode`",
			trials: []trial{
				{value: "**blocking**"},
				{value: "batch", args: []string{"--audit-log-mode=batch"}},
				{value: "no log", quiet: true},
			},
			run: (*trialServer).getAndUpdate,
		},
		{
			symptom: "Every write takes long, however little there is to do",
			shows:   "`sync` … each",
			key:     "`journal.sync`",
			load:    "1 client",
			trials: []trial{
				{value: "**always**"},
				{value: "none", config: "journal: {sync: none}"},
			},
			run: (*trialServer).sequentialWrites,
		},
		{
			symptom: "Many write, and each waits for many syncs",
			shows:   "`commits` … a batch, waiting",
			key:     "`commits.batchSize`",
			load:    "64 clients",
			trials: []trial{
				{value: "1", config: "commits: {batchSize: 1}"},
				{value: "16", config: "commits: {batchSize: 16}"},
				{value: "**4096**"},
			},
			run: (*trialServer).concurrentWrites,
		},
		{
			symptom: "Memory is scarce, or there is plenty and CPU is scarce",
			shows:   "`memory` … resident; `go_gc_cpu_seconds_total`",
			key:     "`GOGC` and `GOMEMLIMIT` (environment)",
			load:    "160 MiB of updates",
			trials: []trial{
				{value: "GOGC=100", env: []string{"GOGC=100"}},
				{value: "**GOGC=200**"},
				{value: "GOGC=400", env: []string{"GOGC=400"}},
				{value: "GOMEMLIMIT=256MiB", env: []string{"GOMEMLIMIT=256MiB"}},
			},
			run: (*trialServer).memory,
		},
		{
			symptom: "Watches are answered 410 and list again, or the history takes too much memory",
			shows:   "`memory` … history; `apiserver_request_total` with `verb=\"WATCH\"` and `code=\"410\"`",
			key:     "`watches.historyBytes`",
			load:    "after 160 MiB of updates",
			trials: []trial{
				{value: "8Mi", config: "watches: {historyBytes: 8Mi}"},
				{value: "32Mi", config: "watches: {historyBytes: 32Mi}"},
				{value: "**128Mi**"},
			},
			run: (*trialServer).watchResumption,
		},
		{
			symptom: "Clients that only watch what is quiet are answered 410 when they come back",
			shows:   "`apiserver_request_total` with `verb=\"WATCH\"` and `code=\"410\"`",
			key:     "`watches.bookmarkPeriod`",
			load:    "4,000 watchers of what is quiet, bookmarks asked for",
			trials: []trial{
				{value: "1s", config: "watches: {bookmarkPeriod: 1s}"},
				{value: "10s", config: "watches: {bookmarkPeriod: 10s}"},
				{value: "**1m**"},
			},
			run: (*trialServer).idleWatches,
		},
		{
			symptom: "Many clients are answered 429, or all of them wait too long",
			shows:   "`requests` … refused as too many",
			key:     "`serving.maxMutatingRequestsInFlight`",
			load:    "1,000 clients who come again 20 ms after a 429",
			trials: []trial{
				{value: "50", args: []string{"--max-mutating-requests-inflight=50"}},
				{value: "**200**"},
				{value: "800", args: []string{"--max-mutating-requests-inflight=800"}},
			},
			run: (*trialServer).manyClients,
		},
		{
			symptom: "Writers of one object are answered 429, or wait too long for each other",
			shows:   "`actors` … waiting messages; `requests` … refused as too many",
			key:     "`actors.mailboxSize`",
			load:    "150 clients of one object, who come again 20 ms after a 429",
			trials: []trial{
				{value: "8", config: "actors: {mailboxSize: 8}"},
				{value: "64", config: "actors: {mailboxSize: 64}"},
				{value: "**1024**"},
			},
			run: (*trialServer).manyClientsOfOneObject,
		},
		{
			symptom: "The start after a crash takes long, or the journal takes much room",
			shows:   "`disk` … journal, snapshots",
			key:     "`snapshots.journalBytes` with `watches.historyTime`, for which the journal is kept too",
			load:    "after 230 MiB of updates",
			trials: []trial{
				{value: "**256Mi, 5m**"},
				{value: "32Mi, 5m", config: "snapshots: {journalBytes: 32Mi}"},
				{value: "32Mi, 5s", config: "snapshots: {journalBytes: 32Mi}\njournal: {segmentBytes: 8Mi}\nwatches: {historyTime: 5s}"},
			},
			run: (*trialServer).recovery,
		},
	}
}
