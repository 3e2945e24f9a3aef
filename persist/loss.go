package persist

import (
	"errors"
	"fmt"
	"path/filepath"
)

// missingFrom describes the data that the newest segment lacks according to the watermark, or
// returns "". It compares the checksum, because another file may have the same length. It also
// compares the length, because a truncated file may lack batches written after the watermark.
func (m watermark) missingFrom(done scanResult) string {
	switch {
	case done.end == 0:
		return "has lost its header (" + done.torn + ")"
	case done.end < m.end:
		return fmt.Sprintf("ends at offset %d with revision %d, but batches up to offset %d and revision %d were durable",
			done.end, done.next-1, m.end, m.newest)
	case done.sumAtOffset != m.sum:
		return fmt.Sprintf("holds other batches before offset %d than were durable", m.end)
	case done.size < m.length:
		return fmt.Sprintf("has %d bytes, but had at least %d: batches at its end may be gone", done.size, m.length)
	}
	return ""
}

func (m watermark) segmentLoss(dir string) *DataLossError {
	return &DataLossError{File: filepath.Join(journalDir(dir), fileName(m.segment, segmentSuffix)), What: "is missing, the newest file of the journal"}
}

func (m watermark) revisionLoss(dir string, last Revision) *DataLossError {
	return &DataLossError{File: snapshotsDir(dir), What: fmt.Sprintf("and the journal end with revision %d, but the state had reached %d", last, m.newest)}
}

func (m watermark) lostUnsynced(boot string) bool {
	return m.unsynced && !m.clean && (m.bootID == "" || m.bootID != boot)
}

func journalLoss(s segment, last, base Revision) error {
	return &DataLossError{File: s.path, What: fmt.Sprintf("ends with revision %d, before the snapshot at %d", last, base)}
}

func lossOf(err error) *DataLossError {
	var loss *DataLossError
	errors.As(err, &loss)
	return loss
}
