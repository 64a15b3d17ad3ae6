import './graph.css';
import './viewer.css';
import './tables.css';
import './states.css';
