import './graph.css';
import './viewer.css';
import './frame.css';
import './panels.css';
import './tables.css';
import './states.css';
