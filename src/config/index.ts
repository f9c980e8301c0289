/** Configuration: YAML or JSON text and `--set` overrides to a checked value, with positions and nearest keys. */
export type { SettingDescription } from './describe-settings.ts';
export { describeSettings, renderSettings } from './describe-settings.ts';
export type { ConfigOptions } from './load-config.ts';
export { ConfigSource, loadConfig, parseConfig } from './load-config.ts';
