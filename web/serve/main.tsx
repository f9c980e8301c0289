/** Puts the page into its place. */
import { render } from 'preact';
import './style.css';
import { App } from './app.tsx';

const place = document.getElementById('serve');
if (place) render(<App />, place);
