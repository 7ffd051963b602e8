// The look of the page, and the few lines of script that it can do without.
#pragma once

#include <string_view>

namespace qkv::explain_detail {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#5b6068;--line:#d9dce1;--tint:#f4f5f7;--accent:#1f5fa8}
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e8eaed;--soft:#a3a9b3;--line:#363a41;--tint:#1e2125;--accent:#7fb4f0}}
*{box-sizing:border-box}
html{scroll-padding-top:4rem}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,"DejaVu Sans",sans-serif}
header,main,footer{max-width:68rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .5rem;overflow-wrap:anywhere}
h1.long{font-size:1.1rem;line-height:1.45;font-weight:500;max-height:12rem;overflow-y:auto}
h2{font-size:1.3rem;margin:0 0 .4rem;line-height:1.3}
h2 a{color:inherit;text-decoration:none}
h2 span{color:var(--accent);font-variant-numeric:tabular-nums;margin-right:.5rem}
.part{font-size:1.5rem;margin:3rem 0 0}
p{max-width:46rem;margin:.4rem 0}
dl.settings{display:flex;flex-wrap:wrap;gap:.35rem .5rem;margin:.8rem 0}
dl.settings div{background:var(--tint);border:1px solid var(--line);border-radius:.4rem;padding:.1rem .55rem;font-size:.86rem}
dl.settings dt,dl.settings dd{display:inline;margin:0}
dl.settings dt{color:var(--soft);margin-right:.35rem}
nav{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line);margin-top:1rem}
nav ol{max-width:68rem;margin:0 auto;padding:.45rem 1.25rem;display:flex;gap:.25rem;overflow-x:auto;scrollbar-width:thin;list-style:none}
nav a{display:block;white-space:nowrap;font-size:.84rem;color:var(--soft);text-decoration:none;padding:.15rem .5rem;border-radius:.4rem}
nav a:hover,nav a:focus-visible,nav a.here{background:var(--tint);color:var(--ink)}
section{border-bottom:1px solid var(--line);padding:1.6rem 0}
section.step:last-of-type{border-bottom:0}
.formulas{margin:.8rem 0;padding:.5rem 1rem;background:var(--tint);border-left:3px solid var(--accent);border-radius:0 .4rem .4rem 0;overflow-x:auto}
math{font-family:"STIX Two Math","Cambria Math","Latin Modern Math","DejaVu Math TeX Gyre",math,serif;font-size:1.15rem;display:block;margin:.35rem 0;text-align:left}
.shape{color:var(--soft);font-size:.9rem;font-family:ui-monospace,"DejaVu Sans Mono",monospace}
.finding{font-weight:600}
.figures{display:flex;flex-wrap:wrap;gap:1.4rem;align-items:flex-start}
figure{margin:.8rem 0 0;max-width:100%;min-width:0}
figcaption{font-size:.9rem;font-weight:600;text-align:left;margin-bottom:.3rem;padding:0}
figure img{max-width:100%;height:auto;background:#fff;border-radius:.3rem}
.thumbs{display:flex;flex-wrap:wrap;gap:.9rem;margin:.8rem 0}
.thumbs a{width:7.2rem;font-size:.8rem;line-height:1.3;color:var(--ink);text-decoration:none}
.thumbs a:hover b{text-decoration:underline}
.thumbs img{display:block;width:7.2rem;height:7.2rem;object-fit:fill;image-rendering:pixelated;border:1px solid var(--line);border-radius:.2rem}
.thumbs b,.thumbs span{display:block}
.thumbs span{color:var(--soft);min-height:1.3em}
details{margin:.4rem 0}
summary{cursor:pointer}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
table.heat{border-collapse:separate;border-spacing:1px}
table.heat td,table.heat thead th[scope]{width:calc(var(--cell) + .8rem);min-width:calc(var(--cell) + .8rem);max-width:calc(var(--cell) + .8rem)}
table.heat td{padding:.28rem .4rem;text-align:right;white-space:nowrap}
table.heat td:hover{outline:2px solid var(--ink);outline-offset:-2px}
table.heat th{font-weight:500;color:var(--soft);padding:.15rem .4rem;max-width:12rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
table.heat thead th{text-align:right}
table.heat th[scope=row]{text-align:right;position:sticky;left:0;background:var(--paper)}
table.heat th.axes{font-size:.72rem;text-align:left}
table.heat tr:hover th,table.heat th.lit{color:var(--ink);font-weight:700}
td.hidden{text-align:center!important;color:var(--soft);background:repeating-linear-gradient(45deg,transparent 0 4px,var(--line) 4px 5px);border:1px solid var(--line)}
.bar{display:flex;gap:.45rem;align-items:center;font-size:.76rem;color:var(--soft);margin-top:.3rem;font-variant-numeric:tabular-nums}
.bar i{width:8rem;height:.6rem;border-radius:.2rem;border:1px solid var(--line)}
table.plain{margin:.1rem 0 0}
table.plain th,table.plain td{border-bottom:1px solid var(--line);padding:.25rem .8rem .25rem 0;text-align:left;vertical-align:top}
table.plain th.n,table.plain td.n{text-align:right}
table.plain td.n{white-space:nowrap}
table.plain thead th{color:var(--soft);font-weight:600}
tr.faint td{opacity:.5}
ul.notes{margin:.7rem 0 0;padding-left:1.2rem;max-width:46rem;color:var(--soft);font-size:.92rem}
footer{padding-top:1.5rem;padding-bottom:3rem;color:var(--soft);font-size:.88rem}
@media(max-width:520px){body{font-size:15px}header,main,footer{padding-left:.9rem;padding-right:.9rem}nav ol{padding-left:.9rem}h1{font-size:1.5rem}table.heat td,table.heat thead th[scope]{width:calc(var(--cell) + .4rem);min-width:calc(var(--cell) + .4rem);max-width:calc(var(--cell) + .4rem);padding:.25rem .2rem}}
@media print{nav{display:none}section{break-inside:avoid-page}body{font-size:11pt;--paper:#fff;--ink:#000}td{print-color-adjust:exact;-webkit-print-color-adjust:exact}.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

inline constexpr std::string_view kHtmlScript = R"js(
(function(){
  var steps=[].slice.call(document.querySelectorAll('main section')),links={};
  document.querySelectorAll('nav a').forEach(function(a){links[a.getAttribute('href').slice(1)]=a});
  function here(){var at=0;steps.forEach(function(s,i){if(s.getBoundingClientRect().top<150)at=i});return at}
  function mark(){var now=steps[here()];for(var id in links)links[id].classList.toggle('here',!!now&&id===now.id)}
  addEventListener('scroll',mark,{passive:true});mark();
  function open(){var d=document.getElementById(location.hash.slice(1));if(d&&d.tagName==='DETAILS'){d.open=true;d.scrollIntoView()}}
  addEventListener('hashchange',open);open();
  addEventListener('keydown',function(e){
    if(e.altKey||e.ctrlKey||e.metaKey||(e.key!=='ArrowRight'&&e.key!=='ArrowLeft'))return;
    var next=steps[here()+(e.key==='ArrowRight'?1:-1)];if(next){next.scrollIntoView();e.preventDefault()}
  });
  document.querySelectorAll('table.heat').forEach(function(t){
    var heads=t.tHead.rows[0].cells,lit=null;
    t.addEventListener('mouseover',function(e){
      if(lit)lit.classList.remove('lit');lit=e.target.tagName==='TD'?heads[e.target.cellIndex]:null;if(lit)lit.classList.add('lit');
    });
  });
})();
)js";

}  // namespace qkv::explain_detail
