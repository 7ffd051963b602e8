// The sliders of each way to tell positions.

import { change, type Change } from "../../app/address";
import { Slider } from "../../parts/Slider";
import { ranges, type Settings } from "./positions_state";

type Name = keyof typeof ranges;

export function PositionSliders({ settings }: { settings: Settings }) {
  const set = (name: Name) => (value: number, how: Change) =>
    change({ [name]: value === ranges[name].first ? null : String(value), cell: null }, how);
  const plain = (name: Name, label: string, shown: string, most: number = ranges[name].most, step = 1) => (
    <Slider
      label={label}
      shown={shown}
      at={settings[name]}
      least={ranges[name].least}
      most={most}
      step={step}
      onMove={set(name)}
    />
  );
  const power = (name: Name, label: string) => (
    <Slider
      label={label}
      shown={settings[name].toLocaleString("en")}
      at={Math.log10(settings[name])}
      least={Math.log10(ranges[name].least)}
      most={Math.log10(ranges[name].most)}
      step={0.25}
      onMove={(at, how) => set(name)(Math.round(10 ** at), how)}
    />
  );
  const tokens = plain("tokens", "positions", String(settings.tokens), ranges.tokens.most, 8);
  switch (settings.kind) {
    case "sinusoidal":
      return (
        <div class="sliders">
          {plain("at", "position", String(settings.at), settings.tokens - 1)}
          {plain("d", "d", String(settings.d), ranges.d.most, 2)}
          {power("base", "base")}
          {tokens}
        </div>
      );
    case "rotary":
      return (
        <div class="sliders">
          {plain("at", "query at", String(settings.at), settings.tokens - 1)}
          {plain("before", "key", `${settings.before} before`, settings.at)}
          {plain("d", "d", String(settings.d), ranges.d.most, 2)}
          {power("base", "base")}
          {tokens}
        </div>
      );
    case "alibi":
      return (
        <div class="sliders">
          {plain("head", "head", `${settings.head} of ${settings.heads}`, settings.heads - 1)}
          {plain("heads", "heads", String(settings.heads))}
          {tokens}
        </div>
      );
    case "t5":
      return (
        <div class="sliders">
          {plain("buckets", "buckets", String(settings.buckets), ranges.buckets.most, 2)}
          {plain("far", "alike from", `${settings.far} tokens`, ranges.far.most, 4)}
          {tokens}
        </div>
      );
  }
}
