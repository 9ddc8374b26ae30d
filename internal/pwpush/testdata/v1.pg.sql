--
-- PostgreSQL database dump
--

\restrict a5ynSKPjnSvCgZA3CqGdFVHvYkFD0BZt0HFpbYW6F69PLhY8MauPSpxDNllgIke

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: active_storage_attachments; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.active_storage_attachments (
    id bigint NOT NULL,
    name character varying NOT NULL,
    record_type character varying NOT NULL,
    record_id integer NOT NULL,
    blob_id integer NOT NULL,
    created_at timestamp without time zone NOT NULL
);


ALTER TABLE public.active_storage_attachments OWNER TO postgres;

--
-- Name: active_storage_attachments_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.active_storage_attachments_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.active_storage_attachments_id_seq OWNER TO postgres;

--
-- Name: active_storage_attachments_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.active_storage_attachments_id_seq OWNED BY public.active_storage_attachments.id;


--
-- Name: active_storage_blobs; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.active_storage_blobs (
    id bigint NOT NULL,
    key character varying NOT NULL,
    filename character varying NOT NULL,
    content_type character varying,
    metadata text,
    service_name character varying NOT NULL,
    byte_size integer NOT NULL,
    checksum character varying,
    created_at timestamp without time zone NOT NULL
);


ALTER TABLE public.active_storage_blobs OWNER TO postgres;

--
-- Name: active_storage_blobs_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.active_storage_blobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.active_storage_blobs_id_seq OWNER TO postgres;

--
-- Name: active_storage_blobs_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.active_storage_blobs_id_seq OWNED BY public.active_storage_blobs.id;


--
-- Name: active_storage_variant_records; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.active_storage_variant_records (
    id bigint NOT NULL,
    blob_id integer NOT NULL,
    variation_digest character varying NOT NULL
);


ALTER TABLE public.active_storage_variant_records OWNER TO postgres;

--
-- Name: active_storage_variant_records_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.active_storage_variant_records_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.active_storage_variant_records_id_seq OWNER TO postgres;

--
-- Name: active_storage_variant_records_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.active_storage_variant_records_id_seq OWNED BY public.active_storage_variant_records.id;


--
-- Name: ar_internal_metadata; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.ar_internal_metadata (
    key character varying NOT NULL,
    value character varying,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);


ALTER TABLE public.ar_internal_metadata OWNER TO postgres;

--
-- Name: file_pushes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.file_pushes (
    id bigint NOT NULL,
    expire_after_days integer,
    expire_after_views integer,
    expired boolean DEFAULT false,
    url_token character varying,
    user_id integer,
    deleted boolean DEFAULT false,
    deletable_by_viewer boolean DEFAULT true,
    retrieval_step boolean DEFAULT false,
    expired_on timestamp without time zone,
    payload_ciphertext text,
    note_ciphertext text,
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL,
    passphrase_ciphertext text,
    name character varying
);


ALTER TABLE public.file_pushes OWNER TO postgres;

--
-- Name: file_pushes_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.file_pushes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.file_pushes_id_seq OWNER TO postgres;

--
-- Name: file_pushes_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.file_pushes_id_seq OWNED BY public.file_pushes.id;


--
-- Name: passwords; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.passwords (
    id bigint NOT NULL,
    expire_after_days integer,
    expire_after_views integer,
    expired boolean DEFAULT false,
    url_token character varying,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    user_id integer,
    deleted boolean DEFAULT false,
    deletable_by_viewer boolean DEFAULT true,
    retrieval_step boolean DEFAULT false,
    expired_on timestamp without time zone,
    payload_ciphertext text,
    note_ciphertext text,
    passphrase_ciphertext text,
    name character varying
);


ALTER TABLE public.passwords OWNER TO postgres;

--
-- Name: passwords_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.passwords_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.passwords_id_seq OWNER TO postgres;

--
-- Name: passwords_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.passwords_id_seq OWNED BY public.passwords.id;


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.schema_migrations (
    version character varying NOT NULL
);


ALTER TABLE public.schema_migrations OWNER TO postgres;

--
-- Name: urls; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.urls (
    id bigint NOT NULL,
    expire_after_days integer,
    expire_after_views integer,
    expired boolean DEFAULT false,
    url_token character varying,
    user_id integer,
    deleted boolean DEFAULT false,
    retrieval_step boolean DEFAULT false,
    expired_on timestamp without time zone,
    payload_ciphertext text,
    note_ciphertext text,
    created_at timestamp without time zone NOT NULL,
    updated_at timestamp without time zone NOT NULL,
    passphrase_ciphertext text,
    name character varying
);


ALTER TABLE public.urls OWNER TO postgres;

--
-- Name: urls_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.urls_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.urls_id_seq OWNER TO postgres;

--
-- Name: urls_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.urls_id_seq OWNED BY public.urls.id;


--
-- Name: users; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    email character varying DEFAULT ''::character varying NOT NULL,
    encrypted_password character varying DEFAULT ''::character varying NOT NULL,
    reset_password_token character varying,
    reset_password_sent_at timestamp without time zone,
    remember_created_at timestamp without time zone,
    sign_in_count integer DEFAULT 0,
    current_sign_in_at timestamp without time zone,
    last_sign_in_at timestamp without time zone,
    current_sign_in_ip character varying,
    last_sign_in_ip character varying,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    admin boolean DEFAULT false,
    failed_attempts integer DEFAULT 0,
    unlock_token character varying,
    locked_at timestamp without time zone,
    confirmation_token character varying,
    confirmed_at timestamp without time zone,
    confirmation_sent_at timestamp without time zone,
    unconfirmed_email character varying,
    authentication_token character varying(30),
    preferred_language character varying
);


ALTER TABLE public.users OWNER TO postgres;

--
-- Name: users_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.users_id_seq OWNER TO postgres;

--
-- Name: users_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.users_id_seq OWNED BY public.users.id;


--
-- Name: views; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.views (
    id bigint NOT NULL,
    password_id integer,
    ip character varying,
    user_agent character varying,
    referrer character varying,
    successful boolean,
    created_at timestamp without time zone,
    updated_at timestamp without time zone,
    kind integer DEFAULT 0,
    user_id integer,
    file_push_id integer,
    url_id integer
);


ALTER TABLE public.views OWNER TO postgres;

--
-- Name: views_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.views_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.views_id_seq OWNER TO postgres;

--
-- Name: views_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.views_id_seq OWNED BY public.views.id;


--
-- Name: active_storage_attachments id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_attachments ALTER COLUMN id SET DEFAULT nextval('public.active_storage_attachments_id_seq'::regclass);


--
-- Name: active_storage_blobs id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_blobs ALTER COLUMN id SET DEFAULT nextval('public.active_storage_blobs_id_seq'::regclass);


--
-- Name: active_storage_variant_records id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_variant_records ALTER COLUMN id SET DEFAULT nextval('public.active_storage_variant_records_id_seq'::regclass);


--
-- Name: file_pushes id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.file_pushes ALTER COLUMN id SET DEFAULT nextval('public.file_pushes_id_seq'::regclass);


--
-- Name: passwords id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.passwords ALTER COLUMN id SET DEFAULT nextval('public.passwords_id_seq'::regclass);


--
-- Name: urls id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.urls ALTER COLUMN id SET DEFAULT nextval('public.urls_id_seq'::regclass);


--
-- Name: users id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.users ALTER COLUMN id SET DEFAULT nextval('public.users_id_seq'::regclass);


--
-- Name: views id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.views ALTER COLUMN id SET DEFAULT nextval('public.views_id_seq'::regclass);


--
-- Data for Name: active_storage_attachments; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.active_storage_attachments (id, name, record_type, record_id, blob_id, created_at) FROM stdin;
1	files	FilePush	1	1	2026-08-01 10:03:30
\.


--
-- Data for Name: active_storage_blobs; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.active_storage_blobs (id, key, filename, content_type, metadata, service_name, byte_size, checksum, created_at) FROM stdin;
1	abcdef0123456789abcdefghij12	résumé 'final'.txt	text/plain	{"identified":true,"analyzed":true}	local	20	Oe3CrSZ90l//btYTmR7AtQ==	2026-08-01 10:03:30
2	zz9876543210zyxwvutsrqpong34	data.bin	application/octet-stream	{"identified":true,"analyzed":true}	local	1024	suqff86oMaSmOyE/QaiFWw==	2026-08-01 10:03:30
\.


--
-- Data for Name: active_storage_variant_records; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.active_storage_variant_records (id, blob_id, variation_digest) FROM stdin;
\.


--
-- Data for Name: ar_internal_metadata; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.ar_internal_metadata (key, value, created_at, updated_at) FROM stdin;
environment	default_env	2026-11-22 21:25:18.007908	2026-11-22 21:25:18.007908
\.


--
-- Data for Name: file_pushes; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.file_pushes (id, expire_after_days, expire_after_views, expired, url_token, user_id, deleted, deletable_by_viewer, retrieval_step, expired_on, payload_ciphertext, note_ciphertext, created_at, updated_at, passphrase_ciphertext, name) FROM stdin;
1	7	5	f	old-file-0000	1	f	t	f	\N	u/ordtsnmwUQsiR7AB+Levdxqwwa3Q8PHSeoklsI5tISmFCqyDA=		2026-08-01 10:01:30.123456	2026-08-01 10:01:30.123456	YVf3C7nrsIDMYnD0IpybG32mK4C6l30ITgGvj6Oxoes=	
\.


--
-- Data for Name: passwords; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.passwords (id, expire_after_days, expire_after_views, expired, url_token, created_at, updated_at, user_id, deleted, deletable_by_viewer, retrieval_step, expired_on, payload_ciphertext, note_ciphertext, passphrase_ciphertext, name) FROM stdin;
1	7	5	f	old-text-0000	2026-08-01 10:01:30.123456	2026-08-01 10:01:30.123456	1	f	t	f	\N	oUF8T/f4YaMG47drjrunL3HuAl8//FrCDrwD6Drj13CqbhdAUekj			
2	7	5	t	old-gone-0000	2026-08-01 10:02:30.123456	2026-08-01 10:02:30.123456	\N	t	t	f	2026-08-01 10:09:30.123456	\N		\N	
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.schema_migrations (version) FROM stdin;
20250515110051
\.


--
-- Data for Name: urls; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.urls (id, expire_after_days, expire_after_views, expired, url_token, user_id, deleted, retrieval_step, expired_on, payload_ciphertext, note_ciphertext, created_at, updated_at, passphrase_ciphertext, name) FROM stdin;
1	7	5	f	old-url-00000	2	f	f	\N	QonVid17JnL8kezjmkti2AT8+o5fEH1SWT7azZCifhgeNPa5JpRfmdejDb4vIBYq		2026-08-01 10:01:30.123456	2026-08-01 10:01:30.123456		
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.users (id, email, encrypted_password, reset_password_token, reset_password_sent_at, remember_created_at, sign_in_count, current_sign_in_at, last_sign_in_at, current_sign_in_ip, last_sign_in_ip, created_at, updated_at, admin, failed_attempts, unlock_token, locked_at, confirmation_token, confirmed_at, confirmation_sent_at, unconfirmed_email, authentication_token, preferred_language) FROM stdin;
1	ann@example.com	$2a$04$YYXLLhohu3ZfUzPvQWpFZOvlVvy1x4Auq02jk69qjU5ymQAP27YM6	\N	\N	\N	0	\N	\N	\N	\N	2026-08-01 10:00:30	2026-08-01 10:01:30	t	0	\N	\N	\N	\N	\N	\N	Zx_9yQm3v-8TfLkWcRbP	de
2	o'hara@example.com	$2a$04$qTS7Y9l5iR71mTebys2AUujUjKF0XB73zyv7Ro3s.pnCKC8xgzc9W	\N	\N	\N	0	\N	\N	\N	\N	2026-08-01 10:02:30	2026-08-01 10:02:30	f	0	\N	\N	\N	\N	\N	\N	\N	\N
\.


--
-- Data for Name: views; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.views (id, password_id, ip, user_agent, referrer, successful, created_at, updated_at, kind, user_id, file_push_id, url_id) FROM stdin;
1	1	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	t	2026-08-01 10:10:30.123456	2026-08-01 10:10:30.123456	0	\N	\N	\N
2	1	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	f	2026-08-01 10:11:30.123456	2026-08-01 10:11:30.123456	0	\N	\N	\N
3	2	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	t	2026-08-01 10:12:30.123456	2026-08-01 10:12:30.123456	1	\N	\N	\N
4	\N	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	t	2026-08-01 10:13:30.123456	2026-08-01 10:13:30.123456	0	\N	1	\N
5	\N	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	t	2026-08-01 10:14:30.123456	2026-08-01 10:14:30.123456	0	\N	\N	1
6	\N	203.0.113.9	Mozilla/5.0 (X11; Linux x86_64) \\ 'quoted'	\N	\N	2026-08-01 10:15:30.123456	2026-08-01 10:15:30.123456	2	\N	\N	1
\.


--
-- Name: active_storage_attachments_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.active_storage_attachments_id_seq', 1, false);


--
-- Name: active_storage_blobs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.active_storage_blobs_id_seq', 1, false);


--
-- Name: active_storage_variant_records_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.active_storage_variant_records_id_seq', 1, false);


--
-- Name: file_pushes_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.file_pushes_id_seq', 1, false);


--
-- Name: passwords_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.passwords_id_seq', 1, false);


--
-- Name: urls_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.urls_id_seq', 1, false);


--
-- Name: users_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.users_id_seq', 1, false);


--
-- Name: views_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.views_id_seq', 1, false);


--
-- Name: active_storage_attachments active_storage_attachments_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_attachments
    ADD CONSTRAINT active_storage_attachments_pkey PRIMARY KEY (id);


--
-- Name: active_storage_blobs active_storage_blobs_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_blobs
    ADD CONSTRAINT active_storage_blobs_pkey PRIMARY KEY (id);


--
-- Name: active_storage_variant_records active_storage_variant_records_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_variant_records
    ADD CONSTRAINT active_storage_variant_records_pkey PRIMARY KEY (id);


--
-- Name: ar_internal_metadata ar_internal_metadata_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.ar_internal_metadata
    ADD CONSTRAINT ar_internal_metadata_pkey PRIMARY KEY (key);


--
-- Name: file_pushes file_pushes_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.file_pushes
    ADD CONSTRAINT file_pushes_pkey PRIMARY KEY (id);


--
-- Name: passwords passwords_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.passwords
    ADD CONSTRAINT passwords_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: urls urls_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.urls
    ADD CONSTRAINT urls_pkey PRIMARY KEY (id);


--
-- Name: users users_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);


--
-- Name: views views_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (id);


--
-- Name: index_active_storage_attachments_on_blob_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_active_storage_attachments_on_blob_id ON public.active_storage_attachments USING btree (blob_id);


--
-- Name: index_active_storage_attachments_uniqueness; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_active_storage_attachments_uniqueness ON public.active_storage_attachments USING btree (record_type, record_id, name, blob_id);


--
-- Name: index_active_storage_blobs_on_key; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_active_storage_blobs_on_key ON public.active_storage_blobs USING btree (key);


--
-- Name: index_active_storage_variant_records_uniqueness; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_active_storage_variant_records_uniqueness ON public.active_storage_variant_records USING btree (blob_id, variation_digest);


--
-- Name: index_file_pushes_on_url_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_file_pushes_on_url_token ON public.file_pushes USING btree (url_token);


--
-- Name: index_file_pushes_on_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_file_pushes_on_user_id ON public.file_pushes USING btree (user_id);


--
-- Name: index_passwords_on_url_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_passwords_on_url_token ON public.passwords USING btree (url_token);


--
-- Name: index_passwords_on_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_passwords_on_user_id ON public.passwords USING btree (user_id);


--
-- Name: index_urls_on_url_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_urls_on_url_token ON public.urls USING btree (url_token);


--
-- Name: index_urls_on_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_urls_on_user_id ON public.urls USING btree (user_id);


--
-- Name: index_users_on_authentication_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_users_on_authentication_token ON public.users USING btree (authentication_token);


--
-- Name: index_users_on_confirmation_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_users_on_confirmation_token ON public.users USING btree (confirmation_token);


--
-- Name: index_users_on_email; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_users_on_email ON public.users USING btree (email);


--
-- Name: index_users_on_reset_password_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_users_on_reset_password_token ON public.users USING btree (reset_password_token);


--
-- Name: index_users_on_unlock_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_users_on_unlock_token ON public.users USING btree (unlock_token);


--
-- Name: index_views_on_file_push_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_views_on_file_push_id ON public.views USING btree (file_push_id);


--
-- Name: index_views_on_kind; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_views_on_kind ON public.views USING btree (kind);


--
-- Name: index_views_on_password_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_views_on_password_id ON public.views USING btree (password_id);


--
-- Name: index_views_on_successful; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_views_on_successful ON public.views USING btree (successful);


--
-- Name: index_views_on_url_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_views_on_url_id ON public.views USING btree (url_id);


--
-- Name: active_storage_variant_records fk_rails_993965df05; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_variant_records
    ADD CONSTRAINT fk_rails_993965df05 FOREIGN KEY (blob_id) REFERENCES public.active_storage_blobs(id);


--
-- Name: active_storage_attachments fk_rails_c3b3935057; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.active_storage_attachments
    ADD CONSTRAINT fk_rails_c3b3935057 FOREIGN KEY (blob_id) REFERENCES public.active_storage_blobs(id);


--
-- PostgreSQL database dump complete
--

\unrestrict a5ynSKPjnSvCgZA3CqGdFVHvYkFD0BZt0HFpbYW6F69PLhY8MauPSpxDNllgIke

