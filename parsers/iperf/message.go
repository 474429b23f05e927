package iperf

import "strings"

// A hint is what a person does next about an error.
type hint struct{ about, do string }

// The hints, by a part of the error's text. The first that fits counts.
var hints = []hint{
	{"busy running a test", "wait for the other test to end, or start a second server with -p PORT"},
	{"Connection refused", "no server there: start iperf3 -s (iperf2: iperf -s) on the other host, or check the port"},
	{"No route to host", "check the route and the firewall"},
	{"Network is unreachable", "check the route and the firewall"},
	{"timed out", "check the address, the route and the firewall"},
	{"Name or service not known", "check the host's name"},
	{"nknown host", "check the host's name"},
	{"nodename nor servname", "check the host's name"},
	{"hostname nor servname", "check the host's name"},
	{"Name does not resolve", "check the host's name"},
	{"Temporary failure in name resolution", "check the host's name and the name server"},
	{"Address already in use", "another server has that port: stop it or use -p PORT"},
	{"nrecognized option", "this version does not know the option: leave it out or use a newer one"},
	{"nvalid option", "this version does not know the option: leave it out or use a newer one"},
	{"llegal option", "this version does not know the option: leave it out or use a newer one"},
	{"requires an argument", "give the option its value"},
	{"parameter error", "check the options"},
	{"control socket has closed", "the other end went away: look there"},
	{"unable to receive control message", "the other end went away or speaks another version"},
	{"unable to read from stream socket", "the other end went away"},
	{"unable to write to stream socket", "the other end went away"},
	{"Connection reset", "the other end went away"},
	{"Permission denied", "it needs more rights"},
	{"Operation not permitted", "it needs more rights"},
	{"some option you are trying to set is client only", "leave that option out on the server"},
	{"ack of last datagram failed", "the final figure of a UDP run may be missing at one end"},
}

func hintFor(text string) string {
	for _, h := range hints {
		if strings.Contains(text, h.about) {
			return h.do
		}
	}
	return ""
}

// Beginnings of iperf2's own error lines. It puts no name before them, so those that
// any program might print count only where iperf2 is known to speak.
var (
	iperf2Errors = []string{
		"tcp connect failed", "udp connect failed", "connect failed", "write failed", "read failed", "write1 failed", "write2 failed",
		"bind failed", "listen failed", "accept failed", "socket failed", "recv failed", "recvn failed", "shutdown failed",
	}
	iperf2CommonErrors = []string{"error: ", "ERROR: ", "FAIL: ", "unable to "}
	remarks            = []string{"WARNING: ", "WARN: ", "warning: "}
)

// readMessage reads "iperf3: error - ..." (error and interrupt lines of iperf_error.c),
// getopt's own complaints, and the error lines of iperf2.
func readMessage(s string, speaker Tool) (m Message, ok bool) {
	body := s
	if id, _, rest, is := bracket(s); is && id != "" {
		body = strings.TrimLeft(rest, " ") // "[  3] WARNING: ack of last datagram failed."
	}
	switch {
	case strings.HasPrefix(s, "iperf3: "):
		m = Message{Tool: Iperf3, Text: s, Error: isError(s[len("iperf3: "):])}
	case strings.HasPrefix(s, "iperf: "):
		m = Message{Tool: Iperf2, Text: s, Error: !strings.HasPrefix(s, "iperf: ignoring")}
	case begins(body, iperf2Errors), speaker == Iperf2 && begins(body, iperf2CommonErrors):
		m = Message{Tool: Iperf2, Text: s, Error: true}
	case speaker == Iperf2 && strings.HasSuffix(s, ": Unknown host"):
		m = Message{Tool: Iperf2, Text: s, Error: true}
	case body != s && begins(body, remarks):
		m = Message{Tool: Iperf2, Text: s, Error: strings.Contains(body, "failed")}
	case speaker != "" && begins(s, remarks):
		m = Message{Tool: speaker, Text: s, Error: strings.Contains(s, "failed")}
	default:
		return m, false
	}
	m.Hint = m.hint()
	return m, true
}

func begins(s string, words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

func (m Message) hint() string {
	if !m.Error {
		return ""
	}
	return hintFor(m.Text)
}

// isError tells errors from what iperf3 says when somebody stopped the test.
func isError(text string) bool {
	for _, calm := range []string{"interrupt", "the client has terminated", "the server has terminated", "warning", "WARNING"} {
		if strings.HasPrefix(text, calm) {
			return false
		}
	}
	return true
}
