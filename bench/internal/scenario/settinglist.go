package scenario

// Settings are those that answer something that an operator can see, in the order of the table. The value
// in bold is the default. Values that are the defaults set nothing, so that the table shows the server as
// it is.
func Settings() []Setting {
	return []Setting{
		{
			Symptom: "Requests cost more than they should, and much of it is the system's time",
			Shows:   "`requests`; `process_cpu_seconds_system_total`",
			Key:     "`audit.log.mode`",
			Trials: []Trial{
				{Value: "**blocking**"},
				{Value: "batch", args: []string{"--audit-log-mode=batch"}},
				{Value: "no log", quiet: true},
			},
			run: (*trialServer).getAndUpdate,
		},
		{
			Symptom: "Every write takes long, however little there is to do",
			Shows:   "`sync` … each",
			Key:     "`journal.sync`",
			load:    "1 client",
			Trials: []Trial{
				{Value: "**always**"},
				{Value: "none", config: "journal: {sync: none}"},
			},
			run: (*trialServer).sequentialWrites,
		},
		{
			Symptom: "Many write, and each waits for many syncs",
			Shows:   "`commits` … a batch, waiting",
			Key:     "`commits.batchSize`",
			load:    "64 clients",
			Trials: []Trial{
				{Value: "1", config: "commits: {batchSize: 1}"},
				{Value: "16", config: "commits: {batchSize: 16}"},
				{Value: "**4096**"},
			},
			run: (*trialServer).concurrentWrites,
		},
		{
			Symptom: "Memory is scarce, or there is plenty and CPU is scarce",
			Shows:   "`memory` … resident; `go_gc_cpu_seconds_total`",
			Key:     "`GOGC` and `GOMEMLIMIT` (environment)",
			load:    "160 MiB of updates",
			Trials: []Trial{
				{Value: "GOGC=100", env: []string{"GOGC=100"}},
				{Value: "**GOGC=200**"},
				{Value: "GOGC=400", env: []string{"GOGC=400"}},
				{Value: "GOMEMLIMIT=256MiB", env: []string{"GOMEMLIMIT=256MiB"}},
			},
			run: (*trialServer).memory,
		},
		{
			Symptom: "Watches are answered 410 and list again, or the history takes too much memory",
			Shows:   "`memory` … history; `apiserver_request_total` with `verb=\"WATCH\"` and `code=\"410\"`",
			Key:     "`watches.historyBytes`",
			load:    "after 160 MiB of updates",
			Trials: []Trial{
				{Value: "8Mi", config: "watches: {historyBytes: 8Mi}"},
				{Value: "32Mi", config: "watches: {historyBytes: 32Mi}"},
				{Value: "**128Mi**"},
			},
			run: (*trialServer).watchResumption,
		},
		{
			Symptom: "Clients that only watch what is quiet are answered 410 when they come back",
			Shows:   "`apiserver_request_total` with `verb=\"WATCH\"` and `code=\"410\"`",
			Key:     "`watches.bookmarkPeriod`",
			load:    "4,000 watchers of what is quiet, bookmarks asked for",
			Trials: []Trial{
				{Value: "1s", config: "watches: {bookmarkPeriod: 1s}"},
				{Value: "10s", config: "watches: {bookmarkPeriod: 10s}"},
				{Value: "**1m**"},
			},
			run: (*trialServer).idleWatches,
		},
		{
			Symptom: "Many clients are answered 429, or all of them wait too long",
			Shows:   "`requests` … refused as too many",
			Key:     "`serving.maxMutatingRequestsInFlight`",
			load:    "1,000 clients who come again 20 ms after a 429",
			Trials: []Trial{
				{Value: "50", args: []string{"--max-mutating-requests-inflight=50"}},
				{Value: "**200**"},
				{Value: "800", args: []string{"--max-mutating-requests-inflight=800"}},
			},
			run: (*trialServer).manyClients,
		},
		{
			Symptom: "Writers of one object are answered 429, or wait too long for each other",
			Shows:   "`actors` … waiting messages; `requests` … refused as too many",
			Key:     "`actors.mailboxSize`",
			load:    "150 clients of one object, who come again 20 ms after a 429",
			Trials: []Trial{
				{Value: "8", config: "actors: {mailboxSize: 8}"},
				{Value: "64", config: "actors: {mailboxSize: 64}"},
				{Value: "**1024**"},
			},
			run: (*trialServer).manyClientsOfOneObject,
		},
		{
			Symptom: "The start after a crash takes long, or the journal takes much room",
			Shows:   "`disk` … journal, snapshots",
			Key:     "`snapshots.journalBytes` with `watches.historyTime`, for which the journal is kept too",
			load:    "after 230 MiB of updates",
			Trials: []Trial{
				{Value: "**256Mi, 5m**"},
				{Value: "32Mi, 5m", config: "snapshots: {journalBytes: 32Mi}"},
				{Value: "32Mi, 5s", config: "snapshots: {journalBytes: 32Mi}\njournal: {segmentBytes: 8Mi}\nwatches: {historyTime: 5s}"},
			},
			run: (*trialServer).recovery,
		},
	}
}
