// Texts that do harm if they are treated as markup, a script, an address or a
// template. A script that runs sets window.pwned.
export const hostile = [
  '<script>window.pwned = 1</script>',
  '</textarea></pre></title></style></script><script>window.pwned = 1</script>',
  '"><img src=x onerror="window.pwned = 1">',
  "' autofocus onfocus='window.pwned = 1' x='",
  '<svg onload="window.pwned = 1"><animate onbegin="window.pwned = 1" attributeName="x"/></svg>',
  '<iframe srcdoc="<script>parent.pwned = 1</script>"></iframe>',
  '<a href="javascript:window.pwned = 1" autofocus>a link</a><details open ontoggle="window.pwned = 1">',
  '<base href="https://elsewhere.test/"><meta http-equiv="refresh" content="0;url=javascript:window.pwned=1">',
  'javascript:window.pwned=1//https://example.com/',
  '&lt;script&gt;window.pwned = 1&lt;/script&gt; &amp;amp; &#60;b&#62;',
  '{{.Page}} {{printf "%v" .}} ${window.pwned = 1} #{7*7} <%= 7*7 %> {count} {name}',
  '<!-- --!> <![CDATA[ <script>window.pwned = 1</script> ]]> <?php ?>',
  '\u202Egnp.exe\u202C \u2066left\u2069 \u200B\uFEFF right-to-left עברית',
  '--></noscript><template><script>window.pwned = 1</script></template>',
  `=HYPERLINK("https://elsewhere.test/","click")`,
  'é\u0301 👩\u200D👧 \u2028 \u2029 end',
  `${'<b>'.repeat(60)}deep`,
]

// texts are hostile texts with line ends and characters that a name cannot have.
export const texts = [
  ...hostile,
  'a\0b\u0001c\u001B[31m\u007F',
  '\n\n<script>window.pwned = 1</script>\n\t\n',
  '<x>'.repeat(20_000),
]
