--
-- PostgreSQL database dump
--

\restrict i7alOgNLOVmM7yxuhWCyaeUp28USbvZIXkTrrj9XLM0ugxNimEESNbfYdTylu9I

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

ALTER TABLE IF EXISTS ONLY public.pushes DROP CONSTRAINT IF EXISTS fk_rails_f17d7dae7e;
ALTER TABLE IF EXISTS ONLY public.notify_by_emails DROP CONSTRAINT IF EXISTS fk_rails_e563e25a27;
ALTER TABLE IF EXISTS ONLY public.active_storage_attachments DROP CONSTRAINT IF EXISTS fk_rails_c3b3935057;
ALTER TABLE IF EXISTS ONLY public.active_storage_variant_records DROP CONSTRAINT IF EXISTS fk_rails_993965df05;
ALTER TABLE IF EXISTS ONLY public.audit_logs DROP CONSTRAINT IF EXISTS fk_rails_0f00f21c9f;
DROP INDEX IF EXISTS public.index_views_on_url_id;
DROP INDEX IF EXISTS public.index_views_on_successful;
DROP INDEX IF EXISTS public.index_views_on_password_id;
DROP INDEX IF EXISTS public.index_views_on_kind;
DROP INDEX IF EXISTS public.index_views_on_file_push_id;
DROP INDEX IF EXISTS public.index_users_on_unlock_token;
DROP INDEX IF EXISTS public.index_users_on_reset_password_token;
DROP INDEX IF EXISTS public.index_users_on_email;
DROP INDEX IF EXISTS public.index_users_on_confirmation_token;
DROP INDEX IF EXISTS public.index_users_on_authentication_token;
DROP INDEX IF EXISTS public.index_site_settings_on_key;
DROP INDEX IF EXISTS public.index_pushes_on_user_id;
DROP INDEX IF EXISTS public.index_pushes_on_url_token;
DROP INDEX IF EXISTS public.index_notify_by_emails_on_audit_log_id;
DROP INDEX IF EXISTS public.index_data_migration_statuses_on_name;
DROP INDEX IF EXISTS public.index_audit_logs_on_user_id;
DROP INDEX IF EXISTS public.index_audit_logs_on_push_id;
DROP INDEX IF EXISTS public.index_audit_logs_on_kind;
DROP INDEX IF EXISTS public.index_active_storage_variant_records_uniqueness;
DROP INDEX IF EXISTS public.index_active_storage_blobs_on_key;
DROP INDEX IF EXISTS public.index_active_storage_attachments_uniqueness;
DROP INDEX IF EXISTS public.index_active_storage_attachments_on_blob_id;
ALTER TABLE IF EXISTS ONLY public.views DROP CONSTRAINT IF EXISTS views_pkey;
ALTER TABLE IF EXISTS ONLY public.users DROP CONSTRAINT IF EXISTS users_pkey;
ALTER TABLE IF EXISTS ONLY public.site_settings DROP CONSTRAINT IF EXISTS site_settings_pkey;
ALTER TABLE IF EXISTS ONLY public.schema_migrations DROP CONSTRAINT IF EXISTS schema_migrations_pkey;
ALTER TABLE IF EXISTS ONLY public.pushes DROP CONSTRAINT IF EXISTS pushes_pkey;
ALTER TABLE IF EXISTS ONLY public.notify_by_emails DROP CONSTRAINT IF EXISTS notify_by_emails_pkey;
ALTER TABLE IF EXISTS ONLY public.data_migration_statuses DROP CONSTRAINT IF EXISTS data_migration_statuses_pkey;
ALTER TABLE IF EXISTS ONLY public.audit_logs DROP CONSTRAINT IF EXISTS audit_logs_pkey;
ALTER TABLE IF EXISTS ONLY public.ar_internal_metadata DROP CONSTRAINT IF EXISTS ar_internal_metadata_pkey;
ALTER TABLE IF EXISTS ONLY public.active_storage_variant_records DROP CONSTRAINT IF EXISTS active_storage_variant_records_pkey;
ALTER TABLE IF EXISTS ONLY public.active_storage_blobs DROP CONSTRAINT IF EXISTS active_storage_blobs_pkey;
ALTER TABLE IF EXISTS ONLY public.active_storage_attachments DROP CONSTRAINT IF EXISTS active_storage_attachments_pkey;
ALTER TABLE IF EXISTS public.views ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.users ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.site_settings ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.pushes ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.notify_by_emails ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.data_migration_statuses ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.audit_logs ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.active_storage_variant_records ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.active_storage_blobs ALTER COLUMN id DROP DEFAULT;
ALTER TABLE IF EXISTS public.active_storage_attachments ALTER COLUMN id DROP DEFAULT;
DROP SEQUENCE IF EXISTS public.views_id_seq;
DROP TABLE IF EXISTS public.views;
DROP SEQUENCE IF EXISTS public.users_id_seq;
DROP TABLE IF EXISTS public.users;
DROP SEQUENCE IF EXISTS public.site_settings_id_seq;
DROP TABLE IF EXISTS public.site_settings;
DROP TABLE IF EXISTS public.schema_migrations;
DROP SEQUENCE IF EXISTS public.pushes_id_seq;
DROP TABLE IF EXISTS public.pushes;
DROP SEQUENCE IF EXISTS public.notify_by_emails_id_seq;
DROP TABLE IF EXISTS public.notify_by_emails;
DROP SEQUENCE IF EXISTS public.data_migration_statuses_id_seq;
DROP TABLE IF EXISTS public.data_migration_statuses;
DROP SEQUENCE IF EXISTS public.audit_logs_id_seq;
DROP TABLE IF EXISTS public.audit_logs;
DROP TABLE IF EXISTS public.ar_internal_metadata;
DROP SEQUENCE IF EXISTS public.active_storage_variant_records_id_seq;
DROP TABLE IF EXISTS public.active_storage_variant_records;
DROP SEQUENCE IF EXISTS public.active_storage_blobs_id_seq;
DROP TABLE IF EXISTS public.active_storage_blobs;
DROP SEQUENCE IF EXISTS public.active_storage_attachments_id_seq;
DROP TABLE IF EXISTS public.active_storage_attachments;
SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: active_storage_attachments; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.active_storage_attachments (
    id bigint NOT NULL,
    blob_id integer NOT NULL,
    created_at timestamp without time zone NOT NULL,
    name character varying NOT NULL,
    record_id integer NOT NULL,
    record_type character varying NOT NULL
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
    byte_size bigint NOT NULL,
    checksum character varying,
    content_type character varying,
    created_at timestamp without time zone NOT NULL,
    filename character varying NOT NULL,
    key character varying NOT NULL,
    metadata text,
    service_name character varying NOT NULL
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
-- Name: audit_logs; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.audit_logs (
    id bigint NOT NULL,
    created_at timestamp without time zone NOT NULL,
    ip character varying,
    kind integer NOT NULL,
    push_id integer NOT NULL,
    referrer character varying,
    updated_at timestamp without time zone NOT NULL,
    user_agent character varying,
    user_id integer
);


ALTER TABLE public.audit_logs OWNER TO postgres;

--
-- Name: audit_logs_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.audit_logs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.audit_logs_id_seq OWNER TO postgres;

--
-- Name: audit_logs_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.audit_logs_id_seq OWNED BY public.audit_logs.id;


--
-- Name: data_migration_statuses; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.data_migration_statuses (
    id bigint NOT NULL,
    completed boolean DEFAULT false,
    completed_at timestamp without time zone,
    created_at timestamp without time zone NOT NULL,
    name character varying NOT NULL,
    updated_at timestamp without time zone NOT NULL
);


ALTER TABLE public.data_migration_statuses OWNER TO postgres;

--
-- Name: data_migration_statuses_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.data_migration_statuses_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.data_migration_statuses_id_seq OWNER TO postgres;

--
-- Name: data_migration_statuses_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.data_migration_statuses_id_seq OWNED BY public.data_migration_statuses.id;


--
-- Name: notify_by_emails; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.notify_by_emails (
    id bigint NOT NULL,
    audit_log_id integer NOT NULL,
    created_at timestamp without time zone NOT NULL,
    error_message_ciphertext text,
    locale_ciphertext text,
    proceed_at timestamp without time zone,
    recipients_ciphertext text NOT NULL,
    recipients_count integer DEFAULT 0 NOT NULL,
    status integer DEFAULT 0 NOT NULL,
    successful_sends_ciphertext text,
    updated_at timestamp without time zone NOT NULL
);


ALTER TABLE public.notify_by_emails OWNER TO postgres;

--
-- Name: notify_by_emails_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.notify_by_emails_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.notify_by_emails_id_seq OWNER TO postgres;

--
-- Name: notify_by_emails_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.notify_by_emails_id_seq OWNED BY public.notify_by_emails.id;


--
-- Name: pushes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.pushes (
    id bigint NOT NULL,
    created_at timestamp without time zone NOT NULL,
    deletable_by_viewer boolean DEFAULT true,
    expire_after_days integer,
    expire_after_views integer,
    expired boolean DEFAULT false,
    expired_on timestamp without time zone,
    kind integer NOT NULL,
    name character varying,
    note_ciphertext text,
    passphrase_ciphertext text,
    payload_ciphertext text,
    retrieval_step boolean DEFAULT false,
    updated_at timestamp without time zone NOT NULL,
    url_token character varying,
    user_id integer
);


ALTER TABLE public.pushes OWNER TO postgres;

--
-- Name: pushes_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.pushes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.pushes_id_seq OWNER TO postgres;

--
-- Name: pushes_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.pushes_id_seq OWNED BY public.pushes.id;


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.schema_migrations (
    version character varying NOT NULL
);


ALTER TABLE public.schema_migrations OWNER TO postgres;

--
-- Name: site_settings; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.site_settings (
    id bigint NOT NULL,
    created_at timestamp without time zone NOT NULL,
    key character varying NOT NULL,
    updated_at timestamp without time zone NOT NULL,
    value text
);


ALTER TABLE public.site_settings OWNER TO postgres;

--
-- Name: site_settings_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.site_settings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.site_settings_id_seq OWNER TO postgres;

--
-- Name: site_settings_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.site_settings_id_seq OWNED BY public.site_settings.id;


--
-- Name: users; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.users (
    id bigint NOT NULL,
    admin boolean DEFAULT false,
    authentication_token character varying(30),
    confirmation_sent_at timestamp without time zone,
    confirmation_token character varying,
    confirmed_at timestamp without time zone,
    created_at timestamp without time zone,
    current_sign_in_at timestamp without time zone,
    current_sign_in_ip character varying,
    email character varying DEFAULT ''::character varying NOT NULL,
    email_sent_count integer DEFAULT 0 NOT NULL,
    email_sent_count_reset_at timestamp without time zone,
    encrypted_password character varying DEFAULT ''::character varying NOT NULL,
    failed_attempts integer DEFAULT 0,
    last_otp_timestep integer,
    last_sign_in_at timestamp without time zone,
    last_sign_in_ip character varying,
    locked_at timestamp without time zone,
    otp_backup_code_digests text,
    otp_required_for_login boolean,
    otp_secret_ciphertext text,
    preferred_language character varying,
    remember_created_at timestamp without time zone,
    reset_password_sent_at timestamp without time zone,
    reset_password_token character varying,
    sign_in_count integer DEFAULT 0,
    unconfirmed_email character varying,
    unlock_token character varying,
    updated_at timestamp without time zone
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
    created_at timestamp without time zone,
    file_push_id integer,
    ip character varying,
    kind integer DEFAULT 0,
    password_id integer,
    referrer character varying,
    successful boolean,
    updated_at timestamp without time zone,
    url_id integer,
    user_agent character varying,
    user_id integer
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
-- Name: audit_logs id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.audit_logs ALTER COLUMN id SET DEFAULT nextval('public.audit_logs_id_seq'::regclass);


--
-- Name: data_migration_statuses id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.data_migration_statuses ALTER COLUMN id SET DEFAULT nextval('public.data_migration_statuses_id_seq'::regclass);


--
-- Name: notify_by_emails id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.notify_by_emails ALTER COLUMN id SET DEFAULT nextval('public.notify_by_emails_id_seq'::regclass);


--
-- Name: pushes id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.pushes ALTER COLUMN id SET DEFAULT nextval('public.pushes_id_seq'::regclass);


--
-- Name: site_settings id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.site_settings ALTER COLUMN id SET DEFAULT nextval('public.site_settings_id_seq'::regclass);


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

INSERT INTO public.active_storage_attachments (id, blob_id, created_at, name, record_id, record_type) VALUES
	(1, 1, '2026-08-01 10:03:30', 'files', 2, 'Push'),
	(2, 2, '2026-08-01 10:03:30', 'files', 2, 'Push');


--
-- Data for Name: active_storage_blobs; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.active_storage_blobs (id, byte_size, checksum, content_type, created_at, filename, key, metadata, service_name) VALUES
	(1, 20, 'Oe3CrSZ90l//btYTmR7AtQ==', 'text/plain', '2026-08-01 10:03:30', 'résumé ''final''.txt', 'abcdef0123456789abcdefghij12', '{"identified":true,"analyzed":true}', 'local'),
	(2, 1024, 'suqff86oMaSmOyE/QaiFWw==', 'application/octet-stream', '2026-08-01 10:03:30', 'data.bin', 'zz9876543210zyxwvutsrqpong34', '{"identified":true,"analyzed":true}', 'local');


--
-- Data for Name: active_storage_variant_records; Type: TABLE DATA; Schema: public; Owner: postgres
--



--
-- Data for Name: ar_internal_metadata; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.ar_internal_metadata (key, value, created_at, updated_at) VALUES
	('environment', 'default_env', '2026-11-22 21:25:01.200294', '2026-11-22 21:25:01.200294');


--
-- Data for Name: audit_logs; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(1, '2026-08-01 10:20:30.123456', '203.0.113.7', 0, 1, '', '2026-08-01 10:20:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1),
	(2, '2026-08-01 10:21:30.123456', '2001:db8::7', 1, 1, 'https://example.com/?q=''x''', '2026-08-01 10:21:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', NULL);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(3, '2026-08-01 10:22:30.123456', '203.0.113.7', 1, 1, 'https://example.com/?q=''x''', '2026-08-01 10:22:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', NULL),
	(4, '2026-08-01 10:23:30.123456', '2001:db8::7', 4, 1, 'https://example.com/?q=''x''', '2026-08-01 10:23:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', NULL);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(5, '2026-08-01 10:24:30.123456', '203.0.113.7', 6, 1, 'https://example.com/?q=''x''', '2026-08-01 10:24:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1),
	(6, '2026-08-01 10:25:30.123456', '2001:db8::7', 0, 2, 'https://example.com/?q=''x''', '2026-08-01 10:25:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(7, '2026-08-01 10:26:30.123456', '203.0.113.7', 1, 2, 'https://example.com/?q=''x''', '2026-08-01 10:26:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 2),
	(8, '2026-08-01 10:27:30.123456', '2001:db8::7', 0, 5, 'https://example.com/?q=''x''', '2026-08-01 10:27:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(9, '2026-08-01 10:28:30.123456', '203.0.113.7', 1, 5, 'https://example.com/?q=''x''', '2026-08-01 10:28:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', NULL),
	(10, '2026-08-01 10:29:30.123456', '2001:db8::7', 3, 5, 'https://example.com/?q=''x''', '2026-08-01 10:29:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(11, '2026-08-01 10:30:30.123456', '203.0.113.7', 2, 5, 'https://example.com/?q=''x''', '2026-08-01 10:30:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', NULL),
	(12, '2026-08-01 10:31:30.123456', '2001:db8::7', 5, 1, 'https://example.com/?q=''x''', '2026-08-01 10:31:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1);
INSERT INTO public.audit_logs (id, created_at, ip, kind, push_id, referrer, updated_at, user_agent, user_id) VALUES
	(13, '2026-08-01 10:32:30.123456', '203.0.113.7', 7, 1, 'https://example.com/?q=''x''', '2026-08-01 10:32:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1),
	(14, '2026-08-01 10:33:30.123456', '2001:db8::7', 8, 1, 'https://example.com/?q=''x''', '2026-08-01 10:33:30.123456', 'Mozilla/5.0 (X11; Linux x86_64) \ ''quoted''', 1);


--
-- Data for Name: data_migration_statuses; Type: TABLE DATA; Schema: public; Owner: postgres
--



--
-- Data for Name: notify_by_emails; Type: TABLE DATA; Schema: public; Owner: postgres
--



--
-- Data for Name: pushes; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.pushes (id, created_at, deletable_by_viewer, expire_after_days, expire_after_views, expired, expired_on, kind, name, note_ciphertext, passphrase_ciphertext, payload_ciphertext, retrieval_step, updated_at, url_token, user_id) VALUES
	(1, '2026-08-01 10:01:30.123456', true, 7, 5, false, NULL, 0, 'It''s a \ test;
-- no comment	tab "quoted" ü 🎉
/* $$ */ \n \N '''' E''x'' );', 'deoMa7bcVIF+xzV3O1QIEsqlCf5WnxVA2pvdQpmWWyjyAGmKaNWLzvxvUA/kxJw=', 'MTa8vGlcI0+0PAvLKlp88Hk+05juBHA/zm5roI66UoPe71ACbE1/b1AK', 'Ya53RBiywSOLZErVMQR6Pg/oVM8gnWf4fkMbB7O/bJNpl2LOBn0bnWGmKt5NuXphtddTksOMh8c3/cWz4AJhevS6/wHOBlaY6Pi+CEJRqFmPp7fv5/itpbpRGUYVGquqkp2+IM3ra1g=', true, '2026-08-01 10:01:30.123456', 'ab12-cd34_ef', 1),
	(2, '2026-08-01 10:02:30.123456', true, 30, 100, false, NULL, 1, '', '', '', '', false, '2026-08-01 10:02:30.123456', 'z9y8x7w6v5u4t3s2r1q', 1);
INSERT INTO public.pushes (id, created_at, deletable_by_viewer, expire_after_days, expire_after_views, expired, expired_on, kind, name, note_ciphertext, passphrase_ciphertext, payload_ciphertext, retrieval_step, updated_at, url_token, user_id) VALUES
	(3, '2026-08-01 10:03:30.123456', NULL, 7, 5, false, NULL, 2, '', '', '', 'QD7mAhF1w/MNwSvWxMk6xtJtJEyYKS+f4pYBXrOH3KTmirrgoTNc3kytKzhocx6wDkw1VTBnGg==', false, '2026-08-01 10:03:30.123456', 'url-token-00', 2),
	(4, '2026-08-01 10:04:30.123456', false, 7, 5, false, NULL, 3, '', '', '', 'XFJjhV8eDBRxEJRuf+sJQiJyzFbgZUS54IDTfDpbdcVtrP4hiGZXgO8NSJlTF3Dr86Tujoo=', false, '2026-08-01 10:04:30.123456', 'qr_token_0000000', NULL);
INSERT INTO public.pushes (id, created_at, deletable_by_viewer, expire_after_days, expire_after_views, expired, expired_on, kind, name, note_ciphertext, passphrase_ciphertext, payload_ciphertext, retrieval_step, updated_at, url_token, user_id) VALUES
	(5, '2026-08-01 10:05:30.123456', true, 7, 5, true, '2026-08-01 10:20:30.123456', 0, 'gone', '', NULL, NULL, false, '2026-08-01 10:05:30.123456', 'expired-token', 1),
	(6, '2026-08-01 10:06:30.123456', true, 7, 5, false, NULL, 0, '', '', '', 'wRO9ulWSJ27OB3Zb3U6VVrZMUU3uloFwoc1GnzmyRVsjNCllNLZLT6HLrpTbstJmZ5A=', false, '2026-08-01 10:06:30.123456', 'older-key-00', NULL);
INSERT INTO public.pushes (id, created_at, deletable_by_viewer, expire_after_days, expire_after_views, expired, expired_on, kind, name, note_ciphertext, passphrase_ciphertext, payload_ciphertext, retrieval_step, updated_at, url_token, user_id) VALUES
	(7, '2026-08-01 10:07:30.123456', true, 7, 5, false, NULL, 0, '', '', '', '3EIynzTJqB9xBANO3jd0FoEvjq0QDB/tOX5/7l9XL0KbCBVo70OxcXPm3CSaCdo9sw==', false, '2026-08-01 10:07:30.123456', 'default-key-0', NULL),
	(8, '2026-08-01 10:08:30.123456', true, 7, 5, false, NULL, 0, '', '', '', 'WvmeBbEMBUj6MW6mknQ94ptOJEuY4gr9bH/gkH7tPKIdOBAQEBFIoCV1+vxAmgPegADTVU/Q+rPoXUOFg7IRXoKfeu+QEJzb0mhmcwiqB6eCvEGtFuJEwv9KMs//F4YA5zABQoB0H1pZVDWvc+LIM2boBTprqkARRz/oNT3KnPr5pbggwuncBaMOh+P9++sJcUM2CJMcThMvOjpUgPeyKIWV2Fmv6o127Fjc+aoFD+aMPJ8ZjZNZB5IPISgUu9XJX0AgYCC/5Gg/QWsBK+XCur4QVtCpMKLIF1L/Q/2xH2xrxAxs0wA9tGNEwDo8BK/aBttqQ8Jd1wB55JcOCqHvo248diL9wHruzSpxACbVAwGEESC6B8KX5GtFNlTIGb1BliTszUS4pQQ2rWZxdfNyKS5YWYRl9KLSAdYVSdrA+bvw5W5Ty2oqepKzNHdr+/bFCWwZoznVTE8N0FIMMMfgmAVBE61fSWMNFL6W+NWxzYx9Yh0XvkD3do5no0s9u+FGvy0R//9RoUZuW+IqHuWg8TNhUDww5PllJVfb8o9SJXuENntenY6gFdgG0esMP+WcR2Iop9eht4dj9I0MAd/+HIf9gkdhfWxtidVWoq10kW5L+tlLKYYqFAUwzb9nzUvQi8Y2CqpZ6YbuvypXTQ8a5aK4bScXkhXAyIZL5d5bllUyE11AM2vzQjqDytIj58SFGex8/5pJ1xxdrYDmmKbmCe2Ftr18zU4tJO4GoxeRH6iUZUFNva1btiHxEIbaIz6j+NxNZa7k1qgu2M45dbFXyO8fEwFDd6wQZlTfpJlEKzI+PVFvSWuTFzP1bbdfAWmPV3bRrQ8fBrsjBCQRN7Eh4Y2KV0SXMRw9/kunLaNyhJTjhaes38KYH5xQF5RThbQZIj4NTtWP7T0jGzAlt3uRNXUrV5MTY6YQH3W9ZPCuBXgcJent7bITVTKG8SEwGaxizM75i+ojNiDmb0P5XsJnhuZY8IiQgRWkGFMAC4RyOVnbXyHBEjJ6FoDDXxHvLl26NRaAgE/TVIbirh/rJPl0ofcKbYrBumNzcx9SeTVPatTzFz6AjTeuGTRV/l76a2Ncj9O+aptbX+Kp5iOw+H5DbcUGTB3l8V/j91P+aD/X8ZsCDj2Udg/PDfR/4ZuOzXghzjN7q5blFNviScQw/zPstsGtVNj29xO/OvxqM8qBhERHKVc6BG2PpzD1xsnA5XaHTxP2h/pcWfgZD5sRNpc1y0zZmFn4aI/xSGlFlNFEu3MpcU6M1Xh39+Hi9nxg8WeFvL2LM2HCd3wi3i53izB2W8ne7scKUstR5lgaSyG02KFFUNjzUR0rKgx7vaMC/ZX+V4eAW9gLR8pDOrie1AOahsBSYzQGTmQ=', false, '2026-08-01 10:08:30.123456', 'long-token-00', NULL);


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.schema_migrations (version) VALUES
	('20260509010000');


--
-- Data for Name: site_settings; Type: TABLE DATA; Schema: public; Owner: postgres
--



--
-- Data for Name: users; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.users (id, admin, authentication_token, confirmation_sent_at, confirmation_token, confirmed_at, created_at, current_sign_in_at, current_sign_in_ip, email, email_sent_count, email_sent_count_reset_at, encrypted_password, failed_attempts, last_otp_timestep, last_sign_in_at, last_sign_in_ip, locked_at, otp_backup_code_digests, otp_required_for_login, otp_secret_ciphertext, preferred_language, remember_created_at, reset_password_sent_at, reset_password_token, sign_in_count, unconfirmed_email, unlock_token, updated_at) VALUES
	(1, true, 'Zx_9yQm3v-8TfLkWcRbP', NULL, NULL, NULL, '2026-08-01 10:00:30', NULL, NULL, 'ann@example.com', 0, NULL, '$2a$04$cHIwhe40rK/vuI6crVLBT.OpcUOxNLSmqcgpLshvcClDPmWyZtSH.', 0, 1785578430, NULL, NULL, NULL, '["00ff"]', true, 'IhMw27bEed0oLs2M0N6c1XlG5tMghLa+DOkpleYLjoBBvfoEpiwBu90hlUg=', 'de', NULL, NULL, NULL, 0, NULL, NULL, '2026-08-01 10:01:30'),
	(2, false, NULL, NULL, NULL, NULL, '2026-08-01 10:02:30', NULL, NULL, 'o''hara@example.com', 0, NULL, '$2a$04$2G2G7gfeyCpzzNxpzkmvy.2QtVY7hkPM9jJZwG9m1UBBFvm2QaR6G', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, '2026-08-01 10:02:30');


--
-- Data for Name: views; Type: TABLE DATA; Schema: public; Owner: postgres
--



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
-- Name: audit_logs_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.audit_logs_id_seq', 1, false);


--
-- Name: data_migration_statuses_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.data_migration_statuses_id_seq', 1, false);


--
-- Name: notify_by_emails_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.notify_by_emails_id_seq', 1, false);


--
-- Name: pushes_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.pushes_id_seq', 1, false);


--
-- Name: site_settings_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.site_settings_id_seq', 1, false);


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
-- Name: audit_logs audit_logs_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.audit_logs
    ADD CONSTRAINT audit_logs_pkey PRIMARY KEY (id);


--
-- Name: data_migration_statuses data_migration_statuses_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.data_migration_statuses
    ADD CONSTRAINT data_migration_statuses_pkey PRIMARY KEY (id);


--
-- Name: notify_by_emails notify_by_emails_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.notify_by_emails
    ADD CONSTRAINT notify_by_emails_pkey PRIMARY KEY (id);


--
-- Name: pushes pushes_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.pushes
    ADD CONSTRAINT pushes_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: site_settings site_settings_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.site_settings
    ADD CONSTRAINT site_settings_pkey PRIMARY KEY (id);


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
-- Name: index_audit_logs_on_kind; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_audit_logs_on_kind ON public.audit_logs USING btree (kind);


--
-- Name: index_audit_logs_on_push_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_audit_logs_on_push_id ON public.audit_logs USING btree (push_id);


--
-- Name: index_audit_logs_on_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_audit_logs_on_user_id ON public.audit_logs USING btree (user_id);


--
-- Name: index_data_migration_statuses_on_name; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_data_migration_statuses_on_name ON public.data_migration_statuses USING btree (name);


--
-- Name: index_notify_by_emails_on_audit_log_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_notify_by_emails_on_audit_log_id ON public.notify_by_emails USING btree (audit_log_id);


--
-- Name: index_pushes_on_url_token; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_pushes_on_url_token ON public.pushes USING btree (url_token);


--
-- Name: index_pushes_on_user_id; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX index_pushes_on_user_id ON public.pushes USING btree (user_id);


--
-- Name: index_site_settings_on_key; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX index_site_settings_on_key ON public.site_settings USING btree (key);


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
-- Name: audit_logs fk_rails_0f00f21c9f; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.audit_logs
    ADD CONSTRAINT fk_rails_0f00f21c9f FOREIGN KEY (push_id) REFERENCES public.pushes(id);


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
-- Name: notify_by_emails fk_rails_e563e25a27; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.notify_by_emails
    ADD CONSTRAINT fk_rails_e563e25a27 FOREIGN KEY (audit_log_id) REFERENCES public.audit_logs(id);


--
-- Name: pushes fk_rails_f17d7dae7e; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.pushes
    ADD CONSTRAINT fk_rails_f17d7dae7e FOREIGN KEY (user_id) REFERENCES public.users(id);


--
-- PostgreSQL database dump complete
--

\unrestrict i7alOgNLOVmM7yxuhWCyaeUp28USbvZIXkTrrj9XLM0ugxNimEESNbfYdTylu9I

