"""The settings that git itself knows, as its manual lists them; which it goes by, and may show.

In the sections that are `WHOLE`, people choose the names of settings.
"""

WHOLE = frozenset(
    {
        *("advice", "alias", "color", "column", "fsck", "pager", "pretty", "receive", "remotes"),
        *("trace2", "uploadpack"),
    }
)
_KEYS = """
add: ignoreerrors usebuiltin
am: keepcr threeway
apply: ignorewhitespace whitespace
attr: tree
author: email name
blame: blankboundary coloring date ignorerevsfile markignoredlines markunblamablelines showemail
  showroot
branch: autosetupmerge autosetuprebase description merge mergeoptions pushremote rebase remote
  sort
bundle: heuristic mode uri version
checkout: defaultremote guess thresholdforparallelism workers
clean: requireforce
clone: defaultremotename filtersubmodules rejectshallow
commit: cleanup gpgsign status template verbose
commitgraph: changedpathsversion generationversion maxnewfilters readchangedpaths
committer: email name
core: abbrev alternaterefscommand alternaterefsprefixes askpass attributesfile autocrlf bare
  bigfilethreshold checkroundtripencoding checkstat commentchar commentstring commitgraph
  compression compressionlevel createobject deltabasecachelimit editor eol excludesfile filemode
  filesreflocktimeout fsmonitor fsmonitorhookversion fsync fsyncmethod fsyncobjectfiles gitproxy
  hidedotfiles hookspath ignorecase ignorestat lockfilepid logallrefupdates loosecompression
  maxtreedepth multipackindex notesref packedgitlimit packedgitwindowsize packedrefstimeout
  pager precomposeunicode prefersymlinkrefs preloadindex protecthfs protectntfs quotepath
  repositoryformatversion restrictinheritedhandles safecrlf sharedrepository sparsecheckout
  sparsecheckoutcone splitindex sshcommand symlinks trustctime unsetenvvars untrackedcache
  usereplacerefs warnambiguousrefs whitespace worktree
credential: helper interactive protectprotocol provider sanitizeprompt usehttppath username
diff: algorithm autorefreshindex binary cachetextconv colormoved colormovedws command context
  dirstat external guitool ignoresubmodules indentheuristic interhunkcontext mnemonicprefix
  noprefix orderfile relative renamelimit renames statgraphwidth submodule suppressblankempty
  textconv tool trustexitcode wordregex wserrorhighlight xfuncname
difftool: cmd path prompt trustexitcode
extensions: compatobjectformat noop objectformat partialclone preciousobjects refstorage
  relativeworktrees submodulepathconfig worktreeconfig
feature: experimental manyfiles
fetch: all bundleuri fsckobjects negotiationalgorithm output parallel prune prunetags
  recursesubmodules showforcedupdates skiplist unpacklimit writecommitgraph
filter: clean process required smudge
format: attach cc coverfromdescription coverletter encodeemailheaders filenamemaxlength
  forceinbodyfrom from headers notes numbered outputdirectory pretty signature signaturefile
  signoff subjectprefix suffix thread to useautobase
gc: aggressivedepth aggressivewindow auto autodetach autopacklimit bigpackthreshold cruftpacks
  logexpiry maxcruftsize packrefs pruneexpire reflogexpire reflogexpireunreachable repackfilter
  repackfilterto rerereresolved rerereunresolved worktreepruneexpire writecommitgraph
gpg: allowedsignersfile defaultkeycommand format mintrustlevel program revocationfile
grep: column extendedregexp fallbacktonoindex fullname linenumber patterntype threads
help: autocorrect browser format htmlpath
http: cookiefile curloptresolve delegation emptyauth extraheader followredirects keepalivecount
  keepaliveidle keepaliveinterval lowspeedlimit lowspeedtime maxrequests minsessions noepsv
  pinnedpubkey postbuffer proxy proxyauthmethod proxysslcainfo proxysslcert
  proxysslcertpasswordprotected proxysslkey proxysslverify savecookies schannelcheckrevoke
  schannelusesslcainfo sslbackend sslcainfo sslcapath sslcert sslcertpasswordprotected
  sslcipherlist sslkey ssltry sslverify sslversion useragent version
i18n: commitencoding logoutputencoding
include: path
includeif: path
index: recordendofindexentries recordoffsettable sparse threads version
init: defaultbranch templatedir
interactive: difffilter singlekey
log: abbrevcommit date decorate diffmerges excludedecoration follow graphcolors
  initialdecorationset mailmap showroot showsignature
lsrefs: unborn
mailinfo: scissors
mailmap: blob file
maintenance: auto autodetach enabled schedule strategy
merge: autostash branchdesc conflictstyle defaulttoupstream directoryrenames driver ff guitool
  log name recursive renamelimit renames renormalize stat suppressdest tool verbosity
  verifysignatures
mergetool: cmd hasoutput hideresolved keepbackup keeptemporaries layout path prompt
  trustexitcode useautomerge writetotemp
notes: displayref mergestrategy rewritemode rewriteref
pack: allowpackreuse compression deltacachelimit deltacachesize depth indexversion island
  islandcore packsizelimit preferbitmaptips prefersbitmaptips threads usebitmaps usesparse
  window windowmemory writebitmaphashcache writebitmaplookuptable writereverseindex
promisor: advertise quiet
protocol: allow version
pull: ff octopus rebase twohead
push: autosetupremote default followtags gpgsign negotiate pushoption recursesubmodules
  usebitmaps useforceifincludes
rebase: abbreviatecommands autosquash autostash backend forkpoint instructionformat
  maxlabellength missingcommitscheck rebasemerges reschedulefailedexec stat updaterefs
reftable: blocksize geometricfactor indexobjects locktimeout restartinterval
remote: fetch followremotehead mirror partialclonefilter promisor proxy proxyauthmethod prune
  prunetags push pushdefault pushurl receivepack serveroption skipdefaultupdate skipfetchall
  tagopt uploadpack url vcs
repack: cruftdepth cruftthreads cruftwindow cruftwindowmemory packkeptobjects updateserverinfo
  usedeltabaseoffset usedeltaislands writebitmaps
rerere: autoupdate enabled
revert: reference
safe: barerepository directory
sequence: editor
showbranch: default
sparse: expectfilesoutsideofpatterns
splitindex: maxpercentchange sharedindexexpire
stash: showincludeuntracked showpatch showstat
status: aheadbehind branch displaycommentprefix relativepaths renamelimit renames short
  showstash showuntrackedfiles submodulesummary
submodule: active alternateerrorstrategy alternatelocation branch fetchjobs
  fetchrecursesubmodules ignore propagatebranches recurse stickyrecursiveclone update url
tag: forcesignannotated gpgsign sort
tar: umask
trailer: cmd command ifexists ifmissing key separators where
transfer: advertisesid bundleuri credentialsinurl fsckobjects hiderefs unpacklimit
uploadarchive: allowunreachable
url: insteadof pushinsteadof
user: email name signingkey useconfigonly
versionsort: suffix
worktree: guessremote userelativepaths
"""


def _by_section() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    # A row that begins with blanks goes on with the section above it.
    for row in _KEYS.strip().replace("\n  ", " ").split("\n"):
        section, _, keys = row.partition(":")
        found[section] = frozenset(keys.split())
    return found


KNOWN = _by_section()


def is_known(section: str, key: str) -> bool:
    """Whether git goes by such a setting, whatever stands between the two."""
    return section in WHOLE or key in KNOWN.get(section, ())
