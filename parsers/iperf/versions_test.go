package iperf

import (
	"strings"
	"testing"
)

// TestRunFacts: what a run is, as far as its output tells.
func TestRunFacts(t *testing.T) {
	tests := []struct {
		file string
		want Start
		cc   string
		dir  Dir
		mss  int
	}{
		{"i3-tcp-fm-V.txt", Start{Tool: Iperf3, Version: "3.12", Peer: "10.77.1.2 port 5201", Protocol: "TCP"}, "bbr", Out, 0},
		{"i3-udp-R.txt", Start{Tool: Iperf3, Peer: "10.77.1.2 port 5201", Protocol: "UDP", Reverse: true}, "", In, 0},
		{"i3-tcp-bidir.txt", Start{Tool: Iperf3, Peer: "10.77.1.2 port 5201", Protocol: "TCP", Bidir: true}, "", Out, 0},
		{"i3-json-stream.ndjson", Start{Tool: Iperf3, Version: "3.21", Peer: "10.77.1.2 port 5201", Protocol: "TCP", Began: num(1796036101.471)}, "bbr", Out, 1448},
		{"i3-json-stream-P3-R.ndjson", Start{Tool: Iperf3, Version: "3.21", Peer: "10.77.1.2 port 5201", Protocol: "TCP", Reverse: true, Began: num(1796036107.361)}, "bbr", In, 1448},
		{"i3-tcp-json.json", Start{Tool: Iperf3, Version: "3.12", Peer: "10.77.1.2 port 5201", Protocol: "TCP", Began: num(1796036076)}, "bbr", Out, 1448},
		{"i2-e-client.txt", Start{Tool: Iperf2, Peer: "10.77.1.2 port 5001", Protocol: "TCP"}, "", Out, 1448},
		{"i2-e-triptimes-server.txt", Start{Tool: Iperf2, Server: true, Peer: "10.77.1.1 port 53422", Protocol: "TCP"}, "", In, 1448},
		{"iperf2-near-congestion-nc0-server.txt", Start{Tool: Iperf2, Server: true, Peer: "192.168.1.62 port 48662", Protocol: "TCP"}, "", In, 453},
		{"t5-iperf2.0.5-mtu1500-d.txt", Start{Tool: Iperf2, Peer: "ha1 port 5001", Protocol: "TCP"}, "", Out, 0},
	}
	for _, tt := range tests {
		recs := records(t, tt.file)
		end, stream := only[End](recs)[0], only[Stream](recs)[0]
		got := end.Run
		got.Line = 0
		if got != tt.want || end.CC != tt.cc || stream.Dir != tt.dir || stream.MSS != tt.mss || !stream.Local.IsValid() || !stream.Remote.IsValid() {
			t.Errorf("%s: run %+v, cc %q, stream %+v", tt.file, got, end.CC, stream)
		}
	}
	cc := "Client connecting to r1, TCP port 5001\nTCP congestion control %s reno\n[  3] local 10.1.1.2 port 1 connected with 10.1.1.3 port 5001\n"
	for _, word := range []string{"set to", "using"} {
		if end := only[End](parse(strings.Replace(cc, "%s", word, 1))); len(end) != 1 || end[0].CC != "reno" {
			t.Errorf("%s: %+v", word, end)
		}
	}
}

// TestLateBanner: with -P two of the four connections are told before the banner.
// It is one run, and the tool's sum is its final figure.
func TestLateBanner(t *testing.T) {
	recs := records(t, "i2-P4-late-banner.txt")
	end := only[End](recs)
	if s := only[Start](recs); len(s) != 1 || len(end) != 1 || s[0].Peer != "10.98.0.2 port 5001" || len(only[Stream](recs)) != 4 {
		t.Fatalf("starts %+v, ends %+v", s, end)
	}
	if sum := end[0].Totals[len(end[0].Totals)-1]; sum.ID != "SUM" || sum.Bits != 23.7e9 || end[0].Run.Protocol != "TCP" {
		t.Errorf("final figure %+v", sum)
	}
}

// TestVersions holds the forms of rows that the captured files do not have: each
// line is as the named version prints it (Locale.c and iperf_locale.c of its tag).
func TestVersions(t *testing.T) {
	const (
		old3  = "Connecting to host r1, port 5201\n[  4] local 10.1.1.2 port 41407 connected to 10.1.1.3 port 5201\n"
		two   = "Client connecting to r1, TCP port 5001\n[  3] local 10.1.1.2 port 41407 connected with 10.1.1.3 port 5001\n"
		udp2  = "Client connecting to r1, UDP port 5001\n[  3] local 10.1.1.2 port 41407 connected with 10.1.1.3 port 5001\n"
		csv17 = "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,writecnt,writeerr,tcpretry,tcpcwnd,tcppcwnd,tcprtt,tcprttvar\n"
		serve = "Server listening on TCP port 5001\n[  4] local 10.1.1.3 port 5001 connected with 10.1.1.2 port 41407\n"
	)
	tests := []struct {
		name, text string
		want       Row // ID, Scope, Dir, Start, End, TCP, UDP and App are compared
	}{
		{"iperf3 3.0 TCP", old3 + "[ ID] Interval           Transfer     Bandwidth       Retr  Cwnd\n[  4]   0.00-1.00   sec  12.6 MBytes   105 Mbits/sec  434    447 KBytes       \n",
			Row{ID: "4", Dir: Out, End: 1, TCP: TCP{Retrans: num(434), Cwnd: num(447 * 1024)}}},
		{"iperf3 3.1 UDP sender", old3 + "[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n[  4]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  156  \n",
			Row{ID: "4", Dir: Out, End: 1, UDP: UDP{Datagrams: num(156)}}},
		{"iperf3 3.1 UDP summary without a side", old3 + "[ ID] Interval           Transfer     Bandwidth       Total Datagrams\n[  4]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  156  \n" +
			"- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n[  4]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  0.041 ms  1/156 (0.64%)  \n[  4] Sent 156 datagrams\n",
			Row{ID: "4", Scope: Total, Dir: Out, End: 1, UDP: UDP{Jitter: num(41), Lost: num(1), Datagrams: num(156)}}},
		{"iperf3 3.14 unknown loss", old3 + "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n[  4]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  0.041 ms  Unknown/156  \n",
			Row{ID: "4", Dir: In, End: 1, UDP: UDP{Jitter: num(41), Datagrams: num(156)}}},
		{"iperf3 3.1 nan jitter", old3 + "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n[  4]   0.00-1.00   sec  0.00 Bytes  0.00 bits/sec  -nan ms  0/0 (-nan%)  \n",
			Row{ID: "4", Dir: In, End: 1, UDP: UDP{Lost: num(0), Datagrams: num(0)}}},
		{"iperf3 -V statistics not available", old3 + "[  4]   0.00-10.00  sec  1.10 GBytes   942 Mbits/sec                  (sender statistics not available)\n",
			Row{ID: "4", Scope: Total, Dir: Out, End: 10}},
		{"iperf3 server of -R", "Accepted connection from 10.1.1.2, port 41406\n[  5] local 10.1.1.3 port 5201 connected to 10.1.1.2 port 41407\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n[  5]   0.00-1.00   sec  12.6 MBytes   105 Mbits/sec    0    447 KBytes\n",
			Row{ID: "5", Dir: Out, End: 1, TCP: TCP{Retrans: num(0), Cwnd: num(447 * 1024)}}},
		{"iperf3 FreeBSD client without Retr, reverse", strings.Replace(old3, "\n", "\nReverse mode, remote host r1 is sending\n", 1) + "[ ID] Interval           Transfer     Bitrate\n[  4]   0.00-1.00   sec  12.6 MBytes   105 Mbits/sec\n",
			Row{ID: "4", Dir: In, End: 1}},
		{"2.0.5", two + "[  3]  0.0- 1.0 sec  11.4 MBytes  95.4 Mbits/sec\n", Row{ID: "3", Dir: Out, End: 1}},
		{"2.0.9 -e", two + "[  3] 0.00-1.00 sec   102 MBytes   858 Mbits/sec  818/0        299     1090K/10000 us\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Retrans: num(299), Cwnd: num(1090 * 1024), RTT: num(10000)}, App: App{Writes: num(818), WriteErrs: num(0)}}},
		{"2.0.13 -e", two + "[  3] 0.00-1.00 sec  6.75 MBytes  56.6 Mbits/sec  54/0          0       48K/11817 us  598.96\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Retrans: num(0), Cwnd: num(48 * 1024), RTT: num(11817)}, App: App{Writes: num(54), WriteErrs: num(0), NetPower: num(598.96)}}},
		{"2.0.13 total without a window", two + "[  3] 0.00-1.00 sec  6.75 MBytes  56.6 Mbits/sec  54/0          0       -1K/98 us  598.96\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Retrans: num(0), RTT: num(98)}, App: App{Writes: num(54), WriteErrs: num(0), NetPower: num(598.96)}}},
		{"2.2.1 -e in flight", two + "[  3] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec  107/0       377      231K(164)/333K(236)/19500(413) us  712\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Retrans: num(377), Cwnd: num(333 * 1024), RTT: num(19500), RTTVar: num(413)}, App: App{Writes: num(107), WriteErrs: num(0), NetPower: num(712)}}},
		{"2.1.8 --tcp-write-times", two + "[  3] 0.0000-1.0000 sec  13.4 MBytes   112 Mbits/sec  107/0       377      412K/16929(410) us  619  15.722/0.007/136.175/33.620 ms (63)\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Retrans: num(377), Cwnd: num(412 * 1024), RTT: num(16929), RTTVar: num(410)}, App: App{Writes: num(107), WriteErrs: num(0), NetPower: num(619)}}},
		{"FreeBSD -e without TCP_INFO", two + "[  3] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec  107/0\n",
			Row{ID: "3", Dir: Out, End: 1, App: App{Writes: num(107), WriteErrs: num(0)}}},
		{"UDP client -e", udp2 + "[  3] 0.00-1.00 sec  2.38 MBytes  20.0 Mbits/sec  1701/0     1702 pps\n",
			Row{ID: "3", Dir: Out, End: 1, App: App{Writes: num(1701), WriteErrs: num(0)}}},
		{"2.0.13 UDP server pads inside", strings.Replace(serve, "TCP", "UDP", 1) + "[  4] 0.00-1.00 sec   615 KBytes  5.03 Mbits/sec   0.061 ms    0/  428 (0%)  6.050/ 5.201/18.728/ 1.159 ms  428 pps\n",
			Row{ID: "4", Dir: In, End: 1, UDP: UDP{Jitter: num(61), Lost: num(0), Datagrams: num(428)}, App: App{Latency: Latency{num(6050), num(5201), num(18728), num(1159)}}}},
		{"UDP total without a count", strings.Replace(serve, "TCP", "UDP", 1) + "[  4] 0.00-1.00 sec   615 KBytes  5.03 Mbits/sec   -nan ms    0/   -1 (-0.000%)\n",
			Row{ID: "4", Dir: In, End: 1}},
		{"server reads in two columns", serve + "[  4] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec  587    521:19:8:2:6:5:3:23\n",
			Row{ID: "4", Dir: In, End: 1}},
		{"2.1 reverse", strings.Replace(two, "[  3] local", "[ *1] local", 1) + "[ *1] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec  587=521:19:8:2:6:5:3:23\n",
			Row{ID: "*1", Dir: Out, End: 1}},
		{"2.1 reverse, told", strings.Replace(strings.Replace(two, "[  3] local", "[ *1] local", 1), "5001\n[", "5001\n[", 1)[:len(two)-1] + " (reverse)\n[ *1] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec  587=521:19:8:2:6:5:3:23\n",
			Row{ID: "*1", Dir: In, End: 1}},
		{"--bounceback", two + "[  3] 0.00-1.00 sec  1.95 KBytes  16.0 Kbits/sec  10=11.320/10.677/13.801/0.905 ms    0   14K/11368 us    88 rps\n",
			Row{ID: "3", Dir: Out, End: 1, TCP: TCP{Cwnd: num(14 * 1024), RTT: num(11368)}}},
		{"--histograms", two + "[  3] 0.00-1.00 sec  13.4 MBytes   112 Mbits/sec\n[  3] 0.00-1.00 sec F8-PDF: bin(w=100us):cnt(86)=423:1,430:" + strings.Repeat("9", 70000) + "\n",
			Row{ID: "3", Dir: Out, End: 1}},
		{"-d, the server's stream", "Server listening on TCP port 5001\nClient connecting to r1, TCP port 5001\n[  5] local 10.1.1.2 port 54353 connected with 10.1.1.3 port 5001\n[  4] local 10.1.1.2 port 5001 connected with 10.1.1.3 port 33091\n[  4]  0.0- 1.0 sec   112 MBytes   940 Mbits/sec\n",
			Row{ID: "4", Dir: In, End: 1}},
		{"CSV of 14 columns", "20261130105636,10.77.1.2,5001,10.77.1.1,50880,3,0.0-1.0,1250000,10000000,0.213,4,854,0.468,0\n",
			Row{ID: "3", Dir: In, End: 1, UDP: UDP{Jitter: num(213), Lost: num(4), Datagrams: num(854)}}},
		{"CSV of 15 columns: TCP of 2.1.9", "+0000:20240908113035.128,192.168.9.3,58256,192.168.9.4,5001,1,0.0-1.0,5220466748,41763733984,10,0,5,120,19500,410\n",
			Row{ID: "1", Dir: Out, End: 1}},
		{"CSV of 17 columns: TCP of 2.2", csv17 + "+0000:20260908083114.550,10.0.0.2,37818,172.23.0.12,20288,1,0.0,1.0,57278528,458228224,10,0,5,480,340,19500,410\n",
			Row{ID: "1", Dir: Out, End: 1, TCP: TCP{Retrans: num(5), Cwnd: num(480 * 1024), RTT: num(19500), RTTVar: num(410)}, App: App{Writes: num(10), WriteErrs: num(0)}}},
		{"CSV of 17 columns, nothing known", csv17 + "+0000:20260908083114.550,10.0.0.2,37818,172.23.0.12,20288,1,0.0,1.0,57278528,458228224,-1,-1,4294967295,-1,4294967295,0,0\n",
			Row{ID: "1", Dir: Out, End: 1}},
		{"CSV of 18 columns: UDP of 2.2", "time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,jitter,errors,datagrams,errpercent,outoforder,writecnt,writeerr,pps\n" +
			"+0200:20240622141050.655,192.168.64.2,0,10.0.0.1,5001,3,0.0,10.0,7844390400,6275636577,0.012,179685,5516005,3.258,0,5336321,0,533642.566123\n",
			Row{ID: "3", Dir: Out, End: 10, UDP: UDP{Jitter: num(12), Lost: num(179685), Datagrams: num(5516005)}, App: App{Writes: num(5336321), WriteErrs: num(0)}}},
		{"CSV sum", "20261130105636,10.77.1.1,0,10.77.1.2,5001,-1,0.0-1.0,1250000,10000000\n", Row{ID: "SUM", Dir: Unknown, End: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			recs := parse(tt.text)
			rows := only[Row](recs)
			if len(rows) == 0 {
				t.Fatalf("no row: %+v", recs)
			}
			r := rows[len(rows)-1]
			got := Row{ID: r.ID, Scope: r.Scope, Dir: r.Dir, Start: r.Start, End: r.End, TCP: r.TCP, UDP: r.UDP, App: r.App}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			for _, b := range only[Bad](recs) {
				if !strings.Contains(tt.text, "nan") {
					t.Errorf("bad line %+v", b)
				}
			}
		})
	}
}
