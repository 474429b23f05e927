package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"netwatch/experiment/recording"
	"netwatch/sources"
)

// hostHeader is what a recording says of this host and moment.
func hostHeader() recording.Header {
	h := recording.Header{Version: version, Commit: commit(), OS: runtime.GOOS, Start: time.Now()}
	h.Host, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return h
}

// called is what this host is called in words, where a peer is not called so, too.
func called(h recording.Header) string {
	host, _, _ := strings.Cut(h.Host, ".")
	if _, taken := h.Options[peerOption+host]; taken || host == "" {
		return "here"
	}
	return host
}

// openRecording starts the recorder, or returns nil when none was asked for. A file in
// which there is something is left alone: what was measured cannot be measured again, and
// it may be the one that is replayed. The file belongs to the person who called sudo.
func (v *showing) openRecording() (sources.Recorder, error) {
	if v.record == "" {
		return nil, nil
	}
	f, err := os.OpenFile(v.record, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		f.Close()
		return nil, fmt.Errorf("recording: %s is there and not empty: remove it, or record into another file", v.record)
	}
	uid, err1 := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if err1 == nil && err2 == nil && os.Geteuid() == 0 {
		if err := f.Chown(uid, gid); err != nil {
			f.Close()
			return nil, fmt.Errorf("recording: %w", err)
		}
	}
	r, err := recording.NewRecorder(f, v.header)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", v.record, err)
	}
	return r, nil
}

func (v *showing) closeRecording(r sources.Recorder) error {
	rec, ok := r.(*recording.Recorder)
	if !ok {
		return nil
	}
	if err := rec.Close(); err != nil {
		return fmt.Errorf("recording %s: %w", v.record, err)
	}
	return nil
}
