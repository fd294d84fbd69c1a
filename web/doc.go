// Package web is the server over HTTP without its pages: middleware, the table
// from errors to statuses, event streams, static files, metrics. It knows no
// resource.
//
// # Who may see what
//
// There are no accounts. Anyone who has one of five things may do what it opens, and nobody
// can tell who that is. The first four have 80 random bits and more and are not guessed.
//
//   - The key of a workspace: everything in it, to read, change, download and delete. A
//     browser has it as a cookie (HttpOnly, SameSite=Lax, over TLS Secure), a program sends
//     it as Authorization: Bearer. The store keeps only its SHA-256, so a copy of the
//     database opens no workspace.
//   - The token of a shared run, /shared/TOKEN: that one run, to read, until it is
//     withdrawn. Its points can be seen there.
//   - The token of a link, /l/TOKEN: one view of the lab with a copy of its points, until it
//     is deleted.
//   - The token of a teacher, /teach/TOKEN: the gallery of one course with the names and
//     the runs that were handed in, to read, to close and to delete; and what its
//     students answered. The workspace that made the course opens it as well. The other runs of
//     students it does not open.
//   - The code of a course, six letters from a blackboard: the page that the teacher set
//     up, with its points, handing in, and answering what the teacher asks: one answer a
//     workspace and round, of 2000 workspaces at most, which one person with many browsers
//     can use up. What others answered it does not tell: it opens nothing that students
//     did. It can be found by asking often enough, so it is no secret: points that are one
//     do not belong into a course.
//
// Tokens of shared runs, of links and of teachers stand in the database as they are: a backup is to
// be kept like them. Who runs the server sees everything. Pictures and pages without any of
// the five, such as the lessons, are the same for everybody, and caches may keep those
// that say so; all others are private to the browser.
//
// # What others can do
//
// Somebody on the same network can ask for every page, as anybody can: a workspace of his
// own, training, uploads, all of which have limits (rates by workspace and by address,
// sizes, quotas, one live question at a time, turns of the queue), and see that a server is
// there. Without TLS he can also listen: keys and tokens cross the network in the clear,
// and anyone who reads a key has the workspace. Between people who do not trust their network
// there must be TLS, here (Server.UseTLS) or in a proxy. HTTPS is not made a duty for the
// host (HSTS): that is for all of its ports, which a program does not own; a proxy can.
//
// Another site, in a visitor's browser, can link here and no more. What changes something
// is refused when it comes from elsewhere (Sec-Fetch-Site, Origin), the cookie does not
// come along, answers cannot be read or framed, and our pages load nothing from others
// (Content-Security-Policy). Demos of lessons below /embed are the exception: any site may
// frame them and show their pictures (Site.Framed). They are computed from data that come
// with the program, in no workspace and no course; a click that is led astray there (a
// frame made invisible, say) moves a picture and nothing else. A site that points its own
// name at our address, to count as the same site, has not the cookie of our name; and the
// name is refused wherever we can know that it is not ours (Links.Answers): always where
// the server listens to its own computer alone, which nobody else could reach otherwise,
// and on a network once it has been told its names by --public-url or --host. Told none, it
// takes any: such a site then does through a visitor's browser what somebody on the network
// could do by himself.
//
// The port of --nats-listen, for workers on other machines, is open to who has the token in
// the data directory, 128 random bits that only the owner of the directory can read; others
// learn that a NATS server is there. With the token one can do what workers do, and no more:
// take cells, read the plans and points of the searches that workers have had within an hour,
// also of those deleted since, and send results, which are believed; so a worker is a machine
// of the operator of the server. It opens no page, no workspace and no other data, and begins no
// search. With --tls-cert token and points cross the network over TLS, and nobody gets in
// without; a worker tells its token to nobody who is not vouched for, by the system's
// certificates or by --nats-ca. Without --tls-cert they cross it in the clear: on a network
// that is not trusted have one, use a tunnel, or an outside NATS server with TLS (--nats
// tls://...), to be given an account that is Margin Lab's alone. An address off this computer
// is not even tried without a token or credentials.
//
// Headers of proxies (X-Forwarded-For, -Proto, -Host) are believed from --trusted-proxy
// alone; from others they change neither limits nor links nor cookies.
//
// Text and files of visitors are data: escaped in pages, bounded in size and in work, never
// run, never a path. A page is shown with the policy above also if that should fail.
//
// The log has times, routes, statuses and addresses of clients; no key, token, code, name or
// content, and no address of a page, not even a mistyped one. The metrics have routes and
// counts; they tell how busy the server is, and --metrics-addr keeps that from visitors.
//
// Not defended against: who holds the machine or its files; many clients at many addresses
// who together ask for more than it can do; a key that its owner gives away or leaves in a
// shared browser. A key is not taken back: what it opened can be downloaded, deleted and
// brought into a new workspace.
package web
