"""A plain page for people who open the address in a browser. It shows nothing private."""

from handrail.version import __version__

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Handrail</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 38rem; margin: 12vh auto; }}
  body {{ padding: 0 1rem; }}
  h1 {{ font-weight: 600; letter-spacing: -0.02em; margin-bottom: 0; }}
  p.lead {{ opacity: .75; margin-top: .25rem; }}
  dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem; }}
  dt {{ opacity: .65; }} dd {{ margin: 0; }}
  code {{ font: 14px/1.5 ui-monospace, monospace; }}
</style>
<h1>Handrail is running</h1>
<p class="lead">It stands between your agents and your machine.</p>
<dl>
  <dt>Version</dt><dd>{version}</dd>
  <dt>Connected machines</dt><dd>{connected}</dd>
  <dt>See a call travel</dt><dd><code>handrail tour</code></dd>
  <dt>Decide what waits</dt><dd><code>handrail approvals watch</code></dd>
  <dt>Read what happened</dt><dd><code>handrail executions</code></dd>
  <dt>Prove that it did</dt><dd><code>handrail audit verify</code></dd>
  <dt>API</dt><dd><code>/openapi.json</code></dd>
</dl>
</html>
"""


def status_page(connected_clients: int) -> str:
    return _PAGE.format(version=__version__, connected=connected_clients or "none yet")
